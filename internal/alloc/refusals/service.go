package refusals

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Refusals explains why pools could not grant what was asked for.
type Refusals struct {
	*usecase.Core
}

// New makes the room.
func New(core *usecase.Core) *Refusals { return &Refusals{core} }
