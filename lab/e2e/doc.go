// Package e2e tests the service from outside: through HTTP, as its callers meet it, on a real database.
//
// The contract is the oracle. Each answer of each test is checked against openapi.yaml: the status is declared, the
// headers and the body are as described and hold nothing else, a refusal is a problem document whose code goes with its
// status. An answer of 5xx fails the test unless the test has broken something on purpose. When a test ends, every
// invariant of its database is checked in SQL.
//
// Requests are generated from the contract where that is possible: its examples are sent as they are to a service that
// holds what they talk about (stage), and what is wrong in a request is made by walking the schema of its body. A new
// operation is therefore covered, or fails a test that says what is missing.
//
// Tenants are told apart by words that each of them writes into everything that is its own: an answer to one that says a word
// of the other fails the test in which it was given (caller.unseen). The pools behind a class of the platform are named where an
// answer says whence a block is, and nowhere else (caller.behind). Who may do what is a matrix over the whole contract; an
// operation that is not in it fails the test.
//
// Tests that need a process of its own (kill -9, signals, the embedded database) build cmd/server and run it.
package e2e
