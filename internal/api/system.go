package api

import (
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func (s *server) GetVersion(c echo.Context) error {
	return sendOK(c, &gen.Version{Version: s.cfg.Version.Version, Commit: s.cfg.Version.Commit, GoVersion: s.cfg.Version.GoVersion})
}

// GetHealth returns 200 while the process runs, whatever the database's state.
func (*server) GetHealth(c echo.Context) error {
	return sendOK(c, &gen.Health{Status: gen.HealthStatusOk})
}

// defaultFound is the default limit on a search result.
const defaultFound = 20

// ErrDraining is the reason why a server is not ready while an operator stops it. It is not a fault, so it is not logged as an error.
var ErrDraining = errors.New("the server is stopping")

// GetReadiness reports whether the server can serve requests. Only the log contains the reason.
func (s *server) GetReadiness(c echo.Context) error {
	if s.cfg.Ready != nil {
		if err := s.cfg.Ready(c.Request().Context()); err != nil {
			return ipam.Errorf(ipam.CodeUnavailable, "The server cannot serve requests now; send them elsewhere or later.").WithCause(err)
		}
	}
	return sendOK(c, &gen.Health{Status: gen.HealthStatusOk})
}

func (s *server) GetWhoami(c echo.Context) error {
	who, err := s.use.Whoami(c.Request().Context())
	if err != nil {
		return err
	}
	return sendOK(c, &gen.Whoami{
		Subject: who.Subject, Method: who.Method, PlatformAdmin: who.PlatformAdmin(),
		Roles: codec.Each(who.Projects(), func(project string) gen.RoleInProject {
			return gen.RoleInProject{Project: project, Role: gen.Role(tenancy.Larger(who.Roles[project], who.Held[project].Role))}
		}),
	})
}

func (s *server) Search(c echo.Context, p gen.SearchParams) error {
	found, err := s.use.Search(c.Request().Context(), search.Query{Text: p.Q, Kind: string(value(p.Kind)), Limit: codec.ValueOr(p.Limit, defaultFound)}, readingOf(c))
	return reply(c, found, err, codec.SearchResultOf)
}

func (s *server) ListRegions(c echo.Context) error {
	all, here, err := s.use.ListRegions(c.Request().Context())
	return reply(c, all, err, func(all []ipam.Region) gen.RegionList {
		return gen.RegionList{Items: codec.Each(all, func(r ipam.Region) gen.Region {
			return gen.Region{Name: r.Name, Primary: r.Ordinal == 0, Here: r.Name == here, CreatedAt: r.CreatedAt}
		})}
	})
}
