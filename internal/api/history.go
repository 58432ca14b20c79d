package api

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
)

func (s *server) GetHistory(ctx context.Context, r gen.GetHistoryRequestObject) (gen.GetHistoryResponseObject, error) {
	a, err := address("query:address", r.Params.Address)
	if err != nil {
		return nil, err
	}
	at := or(r.Params.At, time.Time{}).UTC()
	page, err := s.use.GetHistory(ctx, r.Project, a, at, or(r.Params.Limit, defaultLimit), or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.GetHistory200JSONResponse{Body: gen.HistoryEntryList{Items: each(page.Items, holdOf), NextCursor: page.Next}}, nil
}
