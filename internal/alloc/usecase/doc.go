// Package usecase contains the parts that all use cases share: access to a project, preconditions, repeats with an idempotency key, commits with an
// unknown result, and the limits for all retries.
package usecase
