package api

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
)

func (s *server) GetHistory(ctx context.Context, r gen.GetHistoryRequestObject) (gen.GetHistoryResponseObject, error) {
	a, err := codec.Address("query:address", r.Params.Address)
	if err != nil {
		return nil, err
	}
	at := codec.Or(r.Params.At, time.Time{}).UTC()
	page, err := s.use.GetHistory(ctx, r.Project, a, at, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.GetHistory200JSONResponse{Body: gen.HistoryEntryList{Items: codec.Each(page.Items, codec.HoldOf), NextCursor: page.Next}}, nil
}
