// Package ratelimit limits the rate of callers' operations. Each key (a caller, a client address) has a token bucket: it fills by a number of tokens
// a second and holds two seconds' worth by default, so that it allows a short burst.
//
// The buckets are in the memory of this process, and their number is limited. A new key evicts the least recently used bucket if that bucket is full,
// which loses no state. Otherwise the new key uses the overflow bucket, which all such keys share: a caller cannot clear its debt with many keys. A
// bucket is full again after twice its window without use.
package ratelimit
