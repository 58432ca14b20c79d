// Package e2e tests the service from outside: through HTTP, as clients use it, on a real database.
//
// The contract decides which responses are right. The tests check each response against openapi.yaml. The operation must declare the status. The
// headers and the body must match their descriptions and contain nothing else. A refusal must be a problem document with a code that fits its status.
// A 5xx fails the test, unless the test has broken something on purpose. At the end of a test, SQL checks every invariant of its database.
//
// Where possible, the contract generates the requests. Valid requests are the contract's examples. The tests send them unchanged to a service that
// contains the objects in the examples (stage). Invalid requests come from a walk through the schema of the body. So the tests cover a new operation
// automatically, or a test fails and reports the missing part.
//
// Each tenant writes its own words into all its objects. If a response to one tenant contains a word of the other tenant, the test fails
// (caller.unseen). If a class of the platform has a pool behind it, a response may name that pool only as the origin of the caller's block
// (caller.behind). A matrix over the whole contract defines the permissions of each role. If an operation is not in the matrix, the test fails.
//
// Tests that need their own process (kill -9, signals, the embedded database) build cmd/server and run it.
package e2e
