// Package usecase is what all use cases have in common: entering a project, preconditions, repeats, unknown outcomes, and the bounds of all retries.
package usecase
