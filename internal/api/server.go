package api

import "github.com/carve-ipam/carve/internal/api/gen"

// server implements the contract's operations, with one method for each. A method converts the request, calls one use case and converts the result.
// It returns every error and writes none.
type server struct {
	use UseCases
	cfg Config
}

var _ gen.ServerInterface = (*server)(nil)
