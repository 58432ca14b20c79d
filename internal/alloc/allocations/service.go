package allocations

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Allocations contains the use cases on allocations that are in a project's pools or that a project holds.
type Allocations struct{ *usecase.Core }

// New creates the use cases.
func New(core *usecase.Core) *Allocations { return &Allocations{core} }
