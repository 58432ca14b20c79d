// Package feed streams the changes in a project to clients that keep a copy or wait for a change. The audit trail lists the changed objects in commit
// order; the feed then reads their current state (ADR 32). In each process, one hub for each followed project reads for all its followers.
package feed
