// Package tenancy says who is asking and what they may do. Every use case asks it first, once, and what is not allowed
// explicitly is refused. A thing the caller may not see is answered exactly like a thing that does not exist.
//
// The decision is pure: an authenticator makes a Principal that carries the caller's roles, and Authorize compares them with
// the policy. Members, keys, grants and quotas are administered by the use cases of package alloc, which writes them in
// the same transactions as everything else.
package tenancy
