package crdb

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// SessionByHash implements tenancy.SessionStore.
func (s *Store) SessionByHash(ctx context.Context, hash []byte) (ipam.Session, bool, error) {
	return lookup.First(ctx, s.Reader, "session_get", rows.Sessions.Scan, hash)
}

// SessionBegin implements tenancy.SessionStore.
func (s *Store) SessionBegin(ctx context.Context, session ipam.Session, limit int) error {
	values, err := rows.Sessions.Values("session_insert", session)
	if err != nil {
		return err
	}
	return s.inMaintenanceTx(ctx, "session_begin", func(ctx context.Context, c *conn) error {
		if _, err := c.Exec(ctx, query.Get("session_insert"), values...); err != nil {
			return err
		}
		_, err := c.execCount(ctx, "session_trim", session.Holder, limit)
		return err
	})
}

// SessionEnd implements tenancy.SessionStore.
func (s *Store) SessionEnd(ctx context.Context, hash []byte) error {
	_, err := s.runAlone(ctx, "session_delete", hash)
	return err
}

// SessionsUsed implements tenancy.SessionStore.
func (s *Store) SessionsUsed(ctx context.Context, used map[string]time.Time) error {
	if len(used) == 0 {
		return nil
	}
	hashes, times := make([][]byte, 0, len(used)), make([]time.Time, 0, len(used))
	for _, hash := range slices.Sorted(maps.Keys(used)) { // sorted for the same reason as in KeysUsed
		hashes, times = append(hashes, []byte(hash)), append(times, used[hash])
	}
	_, err := s.runAlone(ctx, "sessions_used", hashes, times)
	return err
}

// ExpireSessions deletes up to limit sessions that expired before now, in its own transaction. It returns their number.
func (s *Store) ExpireSessions(ctx context.Context, now time.Time, limit int) (int64, error) {
	return s.runAlone(ctx, "session_expire", now, limit)
}
