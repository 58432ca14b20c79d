package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// callerHandlers serves the operations that any caller may use, such as search, version and health.
type callerHandlers struct {
	use     Callers
	version Version
	ready   func(ctx context.Context) error
}

func (s callerHandlers) GetVersion(c echo.Context) error {
	return codec.Answer(c.Response(), http.StatusOK, &gen.Version{Version: s.version.Version, Commit: s.version.Commit, GoVersion: s.version.GoVersion})
}

// GetHealth returns 200 while the process runs, whatever the database's state.
func (callerHandlers) GetHealth(c echo.Context) error {
	return codec.Answer(c.Response(), http.StatusOK, &gen.Health{Status: gen.HealthStatusOk})
}

// defaultFound is the default number of items in a search result.
const defaultFound = 20

// ErrDraining is the reason why a server is not ready while an operator stops it. It is not a fault, so it is not logged as an error.
var ErrDraining = errors.New("the server is stopping")

// GetReadiness reports whether the server can serve requests. The reason is only in the log.
func (s callerHandlers) GetReadiness(c echo.Context) error {
	if s.ready != nil {
		if err := s.ready(c.Request().Context()); err != nil {
			return ipam.Errorf(ipam.CodeUnavailable, "The server cannot serve requests now; send them elsewhere or later.").Because(err)
		}
	}
	return codec.Answer(c.Response(), http.StatusOK, &gen.Health{Status: gen.HealthStatusOk})
}

func (s callerHandlers) GetWhoami(c echo.Context) error {
	who, err := s.use.Whoami(c.Request().Context())
	if err != nil {
		return err
	}
	return codec.Answer(c.Response(), http.StatusOK, &gen.Whoami{
		Subject: who.Subject, Method: who.Method, PlatformAdmin: who.PlatformAdmin(),
		Roles: codec.Each(who.Projects(), func(project string) gen.RoleInProject {
			return gen.RoleInProject{Project: project, Role: gen.Role(tenancy.Larger(who.Roles[project], who.Held[project].Role))}
		}),
	})
}

func (s callerHandlers) Search(c echo.Context, p gen.SearchParams) error {
	found, err := s.use.Search(c.Request().Context(), search.Asked{Text: p.Q, Kind: string(codec.ValueOr(p.Kind, "")), Limit: codec.ValueOr(p.Limit, defaultFound)}, readingOf(c))
	if err != nil {
		return err
	}
	shown := codec.SearchResultOf(found)
	return codec.Answer(c.Response(), http.StatusOK, &shown)
}

func (s callerHandlers) ListRegions(c echo.Context) error {
	all, here, err := s.use.ListRegions(c.Request().Context())
	if err != nil {
		return err
	}
	return codec.Answer(c.Response(), http.StatusOK, &gen.RegionList{Items: codec.Each(all, func(r ipam.Region) gen.Region {
		return gen.Region{Name: r.Name, Primary: r.Ordinal == 0, Here: r.Name == here, CreatedAt: r.CreatedAt}
	})})
}
