// Package client is the Go client of Carve, versioned with the contract.
//
// [New] makes one: with an API key, for a server's base URL. Each operation of openapi.yaml is a method that takes and
// answers its types; beside them are iterators over every list ([Carve.Pools], [Carve.Claims], ...), and [Carve.Claim] and
// [Carve.Release], which are most of what many callers need.
//
// A refusal is an error: [AsProblem] answers its problem document, and errors.Is(err, client.ProblemCodePoolExhausted) tells
// refusals apart by their codes. [Error] around it says how often the request was sent, and whether it may have been carried
// out. What is repeated, and when that is safe, is told at [RetryPolicy].
//
// Optional strings, lists and maps that are not set are empty; optional numbers and structures, and all parameters, are
// pointers. The body of a PATCH is a JSON merge patch as raw JSON, because there a null and an absent member are different
// things.
//
// Everything in client.gen.go is generated from the contract. [NewClientWithResponses] makes the bare generated client, which
// repeats nothing, sends no keys, and answers refusals as values by status; [Repeater] can be put under it.
package client
