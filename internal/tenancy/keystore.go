package tenancy

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// KeyStore has the database functions for authentication.
type KeyStore interface {
	// KeyByID finds a key by the id in its token. ok is false if the key does not exist.
	KeyByID(ctx context.Context, id ipam.ID) (key ipam.APIKey, ok bool, err error)
	// MemberRoles returns a subject's roles, by project name.
	MemberRoles(ctx context.Context, subject string) (map[string]Held, error)
	// KeysUsed records when keys were last used. It never replaces a time with an earlier one, and ignores deleted keys.
	KeysUsed(ctx context.Context, used map[ipam.ID]time.Time) error
	// Now returns the database's time, which all servers share. It sends no request to the database.
	Now() time.Time
}
