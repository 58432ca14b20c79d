package api

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// GetVersion says which build answers.
func (s *server) GetVersion(context.Context, gen.GetVersionRequestObject) (gen.GetVersionResponseObject, error) {
	return gen.GetVersion200JSONResponse{Version: s.version.Version, Commit: s.version.Commit, GoVersion: s.version.GoVersion}, nil
}

// GetHealth answers while the process serves, whatever the state of the database.
func (s *server) GetHealth(context.Context, gen.GetHealthRequestObject) (gen.GetHealthResponseObject, error) {
	return gen.GetHealth200JSONResponse{Status: gen.HealthStatusOk}, nil
}

// ErrDraining is the cause of not being ready that somebody asked for, by stopping the server: nothing to worry about.
var ErrDraining = errors.New("the server is being stopped")

// GetReadiness answers whether requests can be served; why not is for the log alone.
func (s *server) GetReadiness(ctx context.Context, _ gen.GetReadinessRequestObject) (gen.GetReadinessResponseObject, error) {
	if s.ready != nil {
		if err := s.ready(ctx); err != nil {
			return nil, ipam.Errorf(ipam.CodeUnavailable, "The server cannot serve requests now; send them elsewhere or later.").Because(err)
		}
	}
	return gen.GetReadiness200JSONResponse{Status: gen.HealthStatusOk}, nil
}
