// Package e2e tests the service from outside: through HTTP, as clients use it, on a real database.
//
// The contract is the oracle. The tests check each response against openapi.yaml. The operation must declare the status; headers and body must match
// their descriptions and contain nothing else. A refusal must be a problem document with a code that fits its status. A 5xx fails the test unless the
// test has broken something on purpose. At the end of a test, SQL checks every invariant of its database.
//
// Where possible, the contract generates the requests. Its examples are sent unchanged to a service that contains the objects that they mention
// (stage). Invalid requests come from a walk through the body's schema. So a new operation is covered, or a test fails and reports the missing part.
//
// Each tenant writes its own words into all its objects. A response to one tenant that contains a word of the other fails the test (caller.unseen). A
// response names a pool behind a class of the platform only as the origin of a block (caller.behind). A matrix over the whole contract defines each
// role's permissions. An operation that is not in it fails the test.
//
// Tests that need their own process (kill -9, signals, the embedded database) build cmd/server and run it.
package e2e
