package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// trailHandlers serves the audit trail and the history.
type trailHandlers struct{ use Trail }

func (s trailHandlers) ListAuditEvents(c echo.Context, project string, p gen.ListAuditEventsParams) error {
	f := trail.EventFilter{
		Subject: codec.ValueOr(p.Subject, ""), Operation: string(codec.ValueOr(p.Operation, "")),
		Kind: string(codec.ValueOr(p.ResourceKind, "")), Name: codec.ValueOr(p.ResourceName, ""), Outcome: string(codec.ValueOr(p.Outcome, "")),
		Since: codec.ValueOr(p.Since, time.Time{}), Until: codec.ValueOr(p.Until, time.Time{}),
	}
	// An empty range would match nothing. To the caller this would look as if nothing had happened.
	if !f.Until.IsZero() && f.Until.Before(f.Since) {
		return ipam.Invalid("query:until", "must not be before since.")
	}
	return list(c, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Event], error) {
		return s.use.ListEvents(ctx, project, f, limit, cursor, r)
	}, codec.EventOf)
}

func (s trailHandlers) GetHistory(c echo.Context, project string, p gen.GetHistoryParams) error {
	address, err := codec.Address("query:address", p.Address)
	if err != nil {
		return err
	}
	at := codec.ValueOr(p.At, time.Time{}).UTC()
	return list(c, p.Limit, p.Cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Hold], error) {
		return s.use.GetHistory(ctx, project, address, at, limit, cursor, r)
	}, codec.HoldOf)
}
