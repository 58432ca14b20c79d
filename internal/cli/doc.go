// Package cli is ipamctl, the command line of Carve: user verbs over the API, with the types and the repeats of package
// client, and operator verbs (migrate, audit, bootstrap) on the database itself.
//
// # What is promised
//
//   - Standard output holds the answer alone: a table, or a document for programs. Everything said to a person (refusals,
//     notes, progress) is on standard error, so that `$(ipamctl ... -q)` is a CIDR and nothing else.
//   - `-o json` and `-o yaml` show the server's documents as they came: order of members, spelling of numbers and fields that
//     this build does not know included.
//   - The exit code says what kind of end it was (see package exit and docs/ipamctl.md); it never depends on a sentence.
//   - Every POST that writes carries an Idempotency-Key, so what is repeated after a lost connection is carried out once. The key is
//     printed when the outcome is not known.
//   - A name never becomes a path: what is not a DNS label is refused before anything is sent.
//   - A credential is read from a file, a variable, standard input or a terminal, never from an argument. It is sent to the
//     server that it was given for, over TLS or to this machine, and it is not printed, whatever a server answers.
//   - The file of contexts is its owner's alone, or it is not used.
//
// The package reads nothing of the process it runs in: arguments, streams and environment are given to [Run], and the
// tests give their own.
package cli
