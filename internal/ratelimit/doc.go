// Package ratelimit limits the rate of callers' operations. Each key (a caller, a client address) has a token bucket: it fills by a number of tokens
// a second and holds two seconds' worth by default, so that it allows a short burst.
//
// The buckets are in the memory of this process, and their number is limited: the least recently used bucket is evicted first. Such a bucket is
// normally full again, so that its eviction changes nothing.
package ratelimit
