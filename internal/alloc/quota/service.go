package quota

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Quotas is the use cases on quotas.
type Quotas struct{ *usecase.Core }

// New makes the room.
func New(core *usecase.Core) *Quotas { return &Quotas{core} }
