package contract

import (
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodySizes returns the size limits in this build's contract.
var bodySizes = sync.OnceValue(func() sizes {
	found, seen := sizes{}, map[*openapi3.Schema]bool{}
	k, err := Load()
	if err != nil {
		return found // the server does not start with such a contract
	}
	for _, methods := range k.paths {
		for _, op := range methods {
			if op.MediaType != "" {
				found.note("", op.route.Operation.RequestBody.Value.Content.Get(op.MediaType).Schema, seen)
			}
		}
	}
	return found
})
