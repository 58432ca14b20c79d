package holdings

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Holdings has the use cases for allocations: in a project's pools, and held by a project.
type Holdings struct{ *usecase.Core }

// New makes the use cases.
func New(core *usecase.Core) *Holdings { return &Holdings{core} }
