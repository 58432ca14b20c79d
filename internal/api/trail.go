package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListAuditEvents(c echo.Context, project string, p gen.ListAuditEventsParams) error {
	f := trail.EventFilter{
		Subject: value(p.Subject), Operation: string(value(p.Operation)),
		Kind: string(value(p.ResourceKind)), Name: value(p.ResourceName), Outcome: string(value(p.Outcome)),
		Since: value(p.Since), Until: value(p.Until),
	}
	// An empty range would match nothing. To the caller this would look as if nothing had happened.
	if !f.Until.IsZero() && f.Until.Before(f.Since) {
		return ipam.Invalid("query:until", "must not be before since.")
	}
	return list(c, p.Limit, p.Cursor, project, withArgument(f, s.use.ListEvents), codec.EventOf)
}

func (s *server) GetHistory(c echo.Context, project string, p gen.GetHistoryParams) error {
	address, err := codec.Address("query:address", p.Address)
	if err != nil {
		return err
	}
	at := value(p.At).UTC()
	return list(c, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Hold], error) {
		return s.use.GetHistory(ctx, project, address, at, limit, cursor, r)
	}, codec.HoldOf)
}
