// Package client is the Go client of Carve. Its version is the contract's version.
//
// [New] makes a client from a server's base URL and an API key. Each operation in openapi.yaml is a method that takes and returns the contract's
// types. Optional parameters come last. Each list has an iterator ([Carve.Pools], [Carve.Claims], ...). Many callers need only [Carve.Claim] and
// [Carve.Release].
//
// If the server refuses a call, the method returns an error. A caller can inspect it in several ways:
//
//   - errors.Is(err, client.ProblemCodePoolExhausted) checks the code.
//   - errors.AsType[*client.PoolExhausted](err) returns the figures that belong to one code.
//   - [AsProblem] returns the problem document, whatever the code is.
//   - [Error] wraps the problem. It has the number of attempts, and reports whether the server may have carried out the request.
//
// [RetryPolicy] documents the calls that the client retries.
//
// If an optional string, list or map is not set, it is empty. A prefix length that is not set is 0. Other optional numbers and structures are
// pointers, and so are the fields of parameters; new(100) makes a pointer. A PATCH body is raw JSON (a JSON merge patch), because null and an absent
// member have different meanings there.
//
// client.gen.go is generated from the contract. [NewClient] makes the bare generated client. It does not retry, sends no idempotency keys, and
// returns every response unchecked. A [Repeater] can be its HTTP client.
package client
