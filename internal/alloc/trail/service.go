package trail

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Trail contains the use cases for the audit trail and the history of blocks.
type Trail struct{ *usecase.Core }

// New makes the use cases.
func New(core *usecase.Core) *Trail { return &Trail{core} }
