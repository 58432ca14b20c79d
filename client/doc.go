// Package client is the Go client of Carve, generated from openapi.yaml.
//
// [NewClientWithResponses] makes one for a server's base URL. Each operation is a method that answers a typed response:
// the body by status (JSON200, JSON201, ...), or for a refusal the problem document (ApplicationproblemJSON409, ...),
// whose Code says what kind of refusal it is.
//
// Send an Idempotency-Key with every POST: a request that is repeated after a lost connection then gets the first answer
// instead of a second block. Optional strings, lists and maps that are not set are empty; optional numbers and
// structures, and all parameters, are pointers. The body of a PATCH is a JSON merge patch as raw JSON, because there a
// null and an absent member are different things.
package client
