// Package usecase contains the parts that all use cases share: access to a project, preconditions, idempotent repeats, indeterminate commits, and the
// limits of all retries.
package usecase
