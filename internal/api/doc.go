// Package api is the HTTP adapter. It converts requests of the contract (openapi.yaml) into calls of the use cases, and converts their results into
// the responses that the contract defines.
//
// # One way in
//
// Every request passes the same middleware, in the order of the list in middleware.go. When a handler runs, the request has an id, a log line and
// limits on its time and size. The caller is known, authorized and within the rate limits. The body is exactly one JSON value and fits the contract.
//
// The contract names the permission of each operation (x-permission). If a permission is missing, the contract does not load. A handler converts the
// request, calls one use case and converts the result. It contains no rule of address management.
//
// # One way out for failures
//
// Handlers and middleware return errors and never write one. The renderer (problem.go) converts each error into a problem document. The table in
// problem_table.go gives the status for the code of an *ipam.Error. An ended context becomes the code deadline, and any other error becomes internal.
// The renderer logs the cause of an internal error once and never sends it.
//
// # Parsers that are too lenient
//
// encoding/json accepts duplicate names, names in the wrong case and, from a Decoder, text after the value. A validator that uses it accepts the
// same. The middleware therefore reads the body strictly before other code sees it. Handlers bind the same value that was validated, and match names
// exactly (package contract).
package api
