// Package tenancy authenticates callers and authorizes their actions. Every use case asks it first, once, and it refuses any action that is not
// explicitly allowed. A resource that the caller may not see gives exactly the same response as one that does not exist.
//
// The decision is pure: an authenticator makes a Principal with the caller's roles, and Authorize compares them with the policy. The use cases of
// package alloc manage members, keys, grants and quotas, and write them in the same transactions as everything else.
package tenancy
