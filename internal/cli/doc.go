// Package cli is ipamctl, Carve's command line. Most commands call the API with package client's types and retries. The commands for
// operators (such as migrate, audit and bootstrap) work on the database itself.
//
// # Guarantees
//
//   - Standard output contains only the result, which is a table or a document for programs. Texts for people (refusals, notes, progress) are on
//     standard error. Therefore `$(ipamctl ... -q)` is a CIDR and nothing else.
//   - `-o json` and `-o yaml` show the server's documents unchanged. They keep the members' order, the numbers' spelling, and the fields that
//     this build does not know.
//   - The exit code classifies the result (see package exit and docs/ipamctl.md). It never depends on a message.
//   - Every POST that writes has an Idempotency-Key. If a connection is lost and ipamctl retries the request, the server carries it out only once. If
//     the outcome stays unknown, ipamctl prints the key.
//   - A name never becomes a path. If a name is not a DNS label, ipamctl refuses it before it sends a request.
//   - ipamctl reads a credential from a file, an environment variable, standard input or a terminal, but never from an argument. It sends the
//     credential only to the server that it belongs to, over TLS or to this machine. It never prints the credential, even if a server returns it.
//   - ipamctl uses the context file only if no other user can access it.
//
// The package reads nothing from its process. [Run] gets the arguments, the streams and the environment. Tests supply their own.
package cli
