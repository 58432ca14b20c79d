// Package api is the HTTP adapter. It converts requests into calls to the use cases, and their results into responses, as the contract (openapi.yaml)
// defines.
//
// # One way in
//
// Every request passes the same middleware, in the order that middleware.go lists. When a handler runs, the request has an id, a log line and limits
// on its time and size. The caller is known, authorized and within the rate limits. The body is exactly one JSON value and fits the contract.
//
// The contract names each operation's permission (x-permission). If a permission is missing, the contract does not load. A handler converts the
// request, calls one use case and converts the result. It contains no rules about addresses.
//
// # One way out for failures
//
// Handlers and middleware return errors and never write one. The renderer (problem.go) converts each error into a problem document. A code's page in
// docs/problems gives its status and title, so a new code is a constant in package ipam, a page and a line in the contract. An ended context becomes
// the code deadline, and any other error becomes internal. The renderer logs an internal error's cause once and never sends it.
//
// # Parsers that are too lenient
//
// encoding/json accepts duplicate names, names in the wrong case and, from a Decoder, text after the value. A validator that uses it accepts the
// same. The middleware therefore reads the body strictly before other code sees it. Handlers bind the same value that was validated, and match names
// exactly (package contract).
package api
