package api

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListAuditEvents(ctx context.Context, r gen.ListAuditEventsRequestObject) (gen.ListAuditEventsResponseObject, error) {
	f := trail.EventFilter{
		Subject: codec.Or(r.Params.Subject, ""), Operation: string(codec.Or(r.Params.Operation, "")),
		Kind: string(codec.Or(r.Params.ResourceKind, "")), Name: codec.Or(r.Params.ResourceName, ""), Outcome: string(codec.Or(r.Params.Outcome, "")),
		Since: codec.Or(r.Params.Since, time.Time{}), Until: codec.Or(r.Params.Until, time.Time{}),
	}
	if !f.Until.IsZero() && f.Until.Before(f.Since) { // there can be none, which would look as if nothing had happened
		return nil, ipam.Invalid("query:until", "is before since; nothing is in between.")
	}
	page, err := s.use.ListEvents(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListAuditEvents200JSONResponse{Body: gen.AuditEventList{Items: codec.Each(page.Items, codec.EventOf), NextCursor: page.Next}}, nil
}
