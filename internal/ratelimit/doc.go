// Package ratelimit limits the rate at which callers do operations. Each key, such as a caller or a client address, has a bucket with tokens. An
// operation takes tokens from the bucket, and the bucket refills at a fixed rate. By default, a bucket holds two seconds' tokens, so that it allows a
// short burst.
//
// The buckets are in this process's memory, and their number is limited. At the limit, a new key replaces the least recently used bucket if that
// bucket holds all its tokens. This loses no state, because a new bucket also starts full. Otherwise, the new key uses the overflow bucket, which all
// such keys share. So a caller cannot use many keys to evict a bucket that lacks tokens.
//
// The window is the time in which an empty bucket fills. The number of tokens may be negative, down to minus the capacity, so an unused bucket is
// full again after at most two windows.
package ratelimit
