package access

import (
	"context"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// Whoami returns the caller with its roles. It leaves out roles in deleted projects, because a role ends with its project.
func (s *Projects) Whoami(ctx context.Context) (tenancy.Principal, error) {
	pass, err := tenancy.Authorize(ctx, tenancy.Whoami, "")
	if err != nil || len(pass.Held) == 0 {
		return pass.Principal, err
	}
	found, err := s.Store.ProjectListNamed(ctx, slices.Collect(maps.Keys(pass.Held)))
	if err != nil {
		return tenancy.Principal{}, err
	}
	held := map[string]tenancy.Held{}
	for _, p := range found {
		if h := pass.Held[p.Name]; h.Project == p.UID {
			held[p.Name] = h
		}
	}
	pass.Held = held
	return pass.Principal, nil
}
