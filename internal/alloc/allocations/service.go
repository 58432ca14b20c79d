package allocations

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Allocations has the use cases for allocations: in a project's pools, and held by a project.
type Allocations struct{ *usecase.Core }

// New makes the use cases.
func New(core *usecase.Core) *Allocations { return &Allocations{core} }
