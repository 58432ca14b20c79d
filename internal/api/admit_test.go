package api_test

import (
	"context"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// Admit is the use case that every request calls first. This implementation decides like the real one, but records nothing.
func (nobody) Admit(ctx context.Context, action tenancy.Action, project string) error {
	_, err := tenancy.Authorize(ctx, action, project)
	return err
}
