// Package claims implements the use cases on claims: create, release, change, explain and read them, one by one, in groups and in batches.
package claims
