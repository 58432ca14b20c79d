// Package cli is ipamctl, the command line of Carve: user verbs over the API, through the generated client, and operator
// verbs (migrate, audit) on the database itself.
//
// # What is promised
//
//   - Standard output holds the answer alone: a table, or a document for programs. Everything said to a person (refusals,
//     notes, progress) is on standard error, so that `$(ipamctl ... -q)` is a CIDR and nothing else.
//   - `-o json` and `-o yaml` show the server's documents as they came: order of members, spelling of numbers and fields that
//     this build does not know included.
//   - The exit code says what kind of end it was (see exit.go and docs/ipamctl.md); it never depends on a sentence.
//   - Every POST carries an Idempotency-Key, so what is repeated after a lost connection is carried out once. The key is
//     printed when the outcome is not known.
//   - A name never becomes a path: what is not a DNS label is refused before anything is sent.
//
// The package reads nothing of the process it runs in: arguments, streams and environment are given to [Run], and the
// tests give their own.
package cli
