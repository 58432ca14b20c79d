package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListRegions(ctx context.Context, _ gen.ListRegionsRequestObject) (gen.ListRegionsResponseObject, error) {
	all, here, err := s.use.ListRegions(ctx)
	if err != nil {
		return nil, err
	}
	return gen.ListRegions200JSONResponse{Items: codec.Each(all, func(r ipam.Region) gen.Region {
		return gen.Region{Name: r.Name, Primary: r.Ordinal == 0, Here: r.Name == here, CreatedAt: r.CreatedAt}
	})}, nil
}
