// Package feed streams the changes in a project to clients that keep a copy or wait for a change. The feed finds the changed objects in the audit
// trail, in commit order, and reads their current state (ADR 32). Each process has one hub for each followed project. The hub reads for all followers
// of that project.
package feed
