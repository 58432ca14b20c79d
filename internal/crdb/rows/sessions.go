package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type sessionRow struct {
	ipam.Session
	roles string
}

// Sessions maps console sessions to rows.
var Sessions = kindOf(table[sessionRow]{
	raw("hash", func(r *sessionRow) *[]byte { return &r.Hash }),
	plain("holder", func(r *sessionRow) *string { return &r.Holder }),
	nullableID("key_id", func(r *sessionRow) *ipam.ID { return &r.KeyID }),
	plain("issuer", func(r *sessionRow) *string { return &r.Issuer }),
	id("rules", func(r *sessionRow) *ipam.ID { return &r.Rules }),
	document("roles", func(r *sessionRow) *map[string]string { return &r.Roles }, func(r *sessionRow) *string { return &r.roles }),
	moment("created_at", func(r *sessionRow) *time.Time { return &r.CreatedAt }),
	moment("used_at", func(r *sessionRow) *time.Time { return &r.UsedAt }),
	moment("expires_at", func(r *sessionRow) *time.Time { return &r.ExpiresAt }),
}, func(s ipam.Session, d *documents) sessionRow {
	return sessionRow{s, d.labels(s.Roles)}
}, func(r *sessionRow) (ipam.Session, error) {
	if len(r.Roles) == 0 {
		r.Roles = nil
	}
	return r.Session, nil
})
