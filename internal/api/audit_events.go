package api

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListAuditEvents(ctx context.Context, r gen.ListAuditEventsRequestObject) (gen.ListAuditEventsResponseObject, error) {
	f := alloc.EventFilter{
		Subject: or(r.Params.Subject, ""), Operation: string(or(r.Params.Operation, "")),
		Kind: string(or(r.Params.ResourceKind, "")), Name: or(r.Params.ResourceName, ""), Outcome: string(or(r.Params.Outcome, "")),
		Since: or(r.Params.Since, time.Time{}), Until: or(r.Params.Until, time.Time{}),
	}
	if !f.Until.IsZero() && f.Until.Before(f.Since) { // there can be none, which would look as if nothing had happened
		return nil, ipam.Invalid("query:until", "is before since; nothing is in between.")
	}
	page, err := s.use.ListEvents(ctx, r.Project, f, or(r.Params.Limit, defaultLimit), or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListAuditEvents200JSONResponse{Body: gen.AuditEventList{Items: each(page.Items, eventOf), NextCursor: page.Next}}, nil
}
