package quota

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Quotas contains the use cases for quotas.
type Quotas struct{ *usecase.Core }

// New makes the use cases.
func New(core *usecase.Core) *Quotas { return &Quotas{core} }
