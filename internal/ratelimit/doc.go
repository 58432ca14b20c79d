// Package ratelimit limits the rate of operations. Each key, such as a caller or a client address, has a token bucket. The bucket receives a number
// of tokens each second. By default it holds the tokens of two seconds, so that it allows a short burst.
//
// The buckets are in the memory of this process, and their number is limited. If there are too many, the least recently used bucket is evicted. Such
// a bucket is normally full again, so that its eviction changes nothing.
package ratelimit
