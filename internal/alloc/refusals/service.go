package refusals

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Refusals builds the refusals for requests that pools could not serve.
type Refusals struct {
	*usecase.Core
}

// New creates a Refusals.
func New(core *usecase.Core) *Refusals { return &Refusals{core} }
