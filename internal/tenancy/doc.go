// Package tenancy authenticates callers and authorizes their actions. Every use case calls it once, before anything else. It refuses every action
// that the policy does not explicitly allow. If the caller may not see a resource, the response is exactly the same as for a resource that does not
// exist.
//
// The decision needs no database. An authenticator makes a Principal with the caller's roles, and Authorize compares these roles with the policy. The
// use cases in package alloc manage members, keys, grants and quotas, and write them in transactions like all other resources.
package tenancy
