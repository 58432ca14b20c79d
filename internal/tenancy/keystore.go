package tenancy

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// KeyStore is the database as authentication needs it.
type KeyStore interface {
	// KeyByID finds a key by the id in its token; ok is false when there is none.
	KeyByID(ctx context.Context, id ipam.ID) (key ipam.APIKey, ok bool, err error)
	// MemberRoles answers all roles of a subject, by project name.
	MemberRoles(ctx context.Context, subject string) (map[string]Held, error)
	// KeysUsed notes when keys were last used, never backwards. Keys that are gone are left out.
	KeysUsed(ctx context.Context, used map[ipam.ID]time.Time) error
	// Now is the time by the database's clock, which all servers have in common, without asking it.
	Now() time.Time
}
