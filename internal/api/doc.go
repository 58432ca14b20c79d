// Package api is the HTTP adapter: it turns requests of the contract (openapi.yaml) into calls of the use cases, and their results into the responses
// that the contract defines.
//
// # One way in
//
// Every request passes the same middleware, top to bottom, in middleware.go. When a handler runs, the request has an id, a log line and limits of
// time and size. Its caller is known, within the rate limits and authorized. Its body is strictly one JSON value and fits the contract. The contract
// names the permission of each operation (x-permission); a contract that omits one does not load. A handler translates, calls one use case and
// translates back; it contains no rule of address management.
//
// # One way out for failures
//
// Handlers and middleware return errors and never write one. The renderer (problem.go) turns each into a problem document. The table of codes
// (problem_table.go) maps an *ipam.Error, an ended context becomes deadline, and anything else becomes internal. The renderer logs the cause of an
// internal error once and never sends it.
//
// # Parsers that are too lenient
//
// encoding/json is lenient where it matters (duplicate names, names in the wrong case, text after the value), and so is a validator built on it. The
// middleware therefore reads the body strictly before other code sees it. Handlers bind the same value that was validated, and match names exactly
// (package contract).
package api
