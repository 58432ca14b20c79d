package trail

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Trail is the audit trail and the history of blocks: what is recorded, and how it is read.
type Trail struct{ *usecase.Core }

// New makes the room.
func New(core *usecase.Core) *Trail { return &Trail{core} }
