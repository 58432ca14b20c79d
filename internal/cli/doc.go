// Package cli is ipamctl, the command line of Carve. User verbs call the API, with the types and retries of package client; operator verbs (migrate,
// audit, bootstrap) work on the database itself.
//
// # Guarantees
//
//   - Standard output contains only the result: a table, or a document for programs. Text for people (refusals, notes, progress) is on standard error, so
//     that `$(ipamctl ... -q)` is a CIDR and nothing else.
//   - `-o json` and `-o yaml` show the server's documents unchanged: order of members, spelling of numbers and fields that this build does not know included.
//   - The exit code classifies the result (see package exit and docs/ipamctl.md); it never depends on a message.
//   - Every POST that writes carries an Idempotency-Key, so the server carries out a retry after a lost connection only once. ipamctl prints the key if the
//     outcome is unknown.
//   - A name never becomes a path: ipamctl refuses a name that is not a DNS label before it sends anything.
//   - ipamctl reads a credential from a file, a variable, standard input or a terminal, never from an argument. It sends the credential only to the server
//     of the credential, over TLS or to this machine, and never prints it, whatever a server returns.
//   - ipamctl uses the file of contexts only if its owner alone can access it.
//
// The package reads nothing from its process: [Run] gets arguments, streams and environment, and the tests supply their own.
package cli
