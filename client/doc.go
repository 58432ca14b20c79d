// Package client is the Go client of Carve. It has the contract's version.
//
// [New] makes a client from a server's base URL and an API key. Each operation in openapi.yaml is a method that takes and returns the contract's
// types; optional parameters come last. Each list has an iterator ([Carve.Pools], [Carve.Claims], ...). Many callers need only [Carve.Claim] and
// [Carve.Release].
//
// A refusal is an error. errors.AsType[*client.PoolExhausted](err) returns the figures of one code, [AsProblem] returns the problem document of any
// code, and errors.Is(err, client.ProblemCodePoolExhausted) checks the code. The [Error] around it has the number of attempts and reports whether the
// server may have carried out the request. [RetryPolicy] documents which calls are retried.
//
// Optional strings, lists and maps are empty if they are not set; a prefix length is 0. Other optional numbers and structures, and the fields of
// parameters, are pointers; new(100) makes one. A PATCH body is raw JSON (a JSON merge patch), because null and an absent member differ there.
//
// client.gen.go is generated from the contract. [NewClient] makes the bare generated client, which does not retry, sends no idempotency keys and
// returns every response unchecked; a [Repeater] can be its HTTP client.
package client
