package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// Whoami answers who is asking, with the roles of this moment.
func (s *Service) Whoami(ctx context.Context) (tenancy.Principal, error) {
	return tenancy.Authorize(ctx, tenancy.Whoami, "")
}
