// Package carve holds the contract of the service as it is committed, so that the binary can serve the very document that
// its types were generated from.
package carve

import _ "embed"

// OpenAPI is openapi.yaml, byte for byte.
//
//go:embed openapi.yaml
var OpenAPI []byte
