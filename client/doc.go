// Package client is the Go client of Carve, versioned with the contract.
//
// [New] makes one: with an API key, for a server's base URL. Each operation of openapi.yaml is a method that takes and
// answers its types, and its parameters at the end if there is anything to say by them; beside them are iterators over every list ([Carve.Pools], [Carve.Claims], ...), and [Carve.Claim] and
// [Carve.Release], which are most of what many callers need.
//
// A refusal is an error: errors.AsType[*client.PoolExhausted](err) answers the figures of one code, [AsProblem] the problem document of any, and
// errors.Is(err, client.ProblemCodePoolExhausted) tells refusals apart by their codes. [Error] around it says how often the request was sent, and whether it may have been carried
// out. What is repeated, and when that is safe, is told at [RetryPolicy].
//
// Optional strings, lists and maps that are not set are empty, and so is the length of a block; other optional numbers and structures, and the
// fields of parameters, are pointers, which new makes of any value: new(100). The body of a PATCH is a JSON merge patch as raw JSON, because there a null and an absent member are different
// things.
//
// Everything in client.gen.go is generated from the contract. [NewClient] makes the bare generated client, which
// repeats nothing, sends no keys, and answers whatever came; [Repeater] can be put under it.
package client
