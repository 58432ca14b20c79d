package holdings

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Holdings is the use cases on allocations: what is held in a project's pools, and what a project holds.
type Holdings struct{ *usecase.Core }

// New makes the room.
func New(core *usecase.Core) *Holdings { return &Holdings{core} }
