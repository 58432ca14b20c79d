// Package ratelimit counts what callers do and says who does too much. Each key (a caller, a client address) has a token
// bucket: it fills by a number of tokens a second and holds two seconds' worth, unless a policy says otherwise, so that a short burst is no offence.
//
// The buckets are in memory, of this process alone, and of a bounded number: the one that was not used for longest is
// forgotten first. A bucket that was not used for that long is full, so that forgetting it changes nothing.
package ratelimit
