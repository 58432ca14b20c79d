package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func (s *server) GetWhoami(ctx context.Context, _ gen.GetWhoamiRequestObject) (gen.GetWhoamiResponseObject, error) {
	who, err := s.use.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	return gen.GetWhoami200JSONResponse(whoamiOf(who)), nil
}

func whoamiOf(who tenancy.Principal) gen.Whoami {
	return gen.Whoami{
		Subject: who.Subject, Method: who.Method, PlatformAdmin: who.PlatformAdmin(),
		Roles: codec.Each(who.Projects(), func(project string) gen.RoleInProject {
			return gen.RoleInProject{Project: project, Role: gen.Role(tenancy.Larger(who.Roles[project], who.Held[project].Role))}
		}),
	}
}
