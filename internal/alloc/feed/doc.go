// Package feed is what changes in a project, for those who keep a copy or wait for something: the trail says which objects have changed, in the order
// in which transactions were committed, and what they are is read then (ADR 32). In each process one hub for each project that is followed reads for all
// of its followers.
package feed
