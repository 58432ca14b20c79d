// Package api is the HTTP adapter: it turns requests of the contract (openapi.yaml) into calls of the use cases, and what
// they answer into what the contract promises.
//
// # One way in
//
// Every request passes the same middleware, written once, top to bottom, in middleware.go. When a handler runs, the
// request is named, logged, bounded in time and size, its caller known, within its limits and allowed to do this, its
// body strictly one JSON value and all of it as the contract describes it. The contract says of each operation who may call
// it (x-permission); one that does not say so does not load. A handler translates, calls one use case and translates back; it knows no rule of address space.
//
// # One way out for failures
//
// Handlers and middleware return errors and never write one. The renderer (problem.go) turns each into a problem
// document: an *ipam.Error by the table of codes (problem_table.go), a context that ended into deadline, anything else
// into internal, whose cause is logged once and never sent.
//
// # What is not trusted
//
// encoding/json is lenient where it matters (duplicate and wrongly cased names, text after the value), and so is a
// validator built on it. The body is therefore read strictly before anything else looks at it, and what is bound is the
// value that was validated, with names matched exactly (the room contract).
package api
