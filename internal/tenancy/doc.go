// Package tenancy authenticates callers and authorizes their actions. Every use case first asks it once. It refuses every action that the policy does
// not explicitly allow. If the caller may not see a resource, the response is exactly the same as for a resource that does not exist.
//
// The decision needs no database. An authenticator makes a Principal with the caller's roles, and Authorize compares these roles with the policy.
// Package alloc's use cases manage members, keys, grants and quotas. They write them in transactions, in the same way as all other resources.
package tenancy
