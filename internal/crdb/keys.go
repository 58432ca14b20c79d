package crdb

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// KeyByID implements tenancy.KeyStore.
func (s *Store) KeyByID(ctx context.Context, id ipam.ID) (ipam.APIKey, bool, error) {
	return lookup.First(ctx, s.Reader, "key_by_id", rows.Keys.Scan, id)
}

// MemberRoles implements tenancy.KeyStore.
func (s *Store) MemberRoles(ctx context.Context, subject string) (map[string]tenancy.Held, error) {
	type membership struct {
		project string
		held    tenancy.Held
	}
	found, err := lookup.List(ctx, s.Reader, "member_roles", func(row pgx.CollectableRow) (m membership, err error) {
		err = row.Scan(&m.held.Project, &m.project, &m.held.Role)
		return m, err
	}, subject)
	roles := make(map[string]tenancy.Held, len(found))
	for _, m := range found {
		roles[m.project] = m.held
	}
	return roles, err
}

// KeysUsed implements tenancy.KeyStore.
func (s *Store) KeysUsed(ctx context.Context, used map[ipam.ID]time.Time) error {
	if len(used) == 0 {
		return nil
	}
	ids, times := make([]ipam.ID, 0, len(used)), make([]time.Time, 0, len(used))
	// All servers sort the ids, so two servers seldom deadlock.
	for _, id := range slices.SortedFunc(maps.Keys(used), rows.CompareIDs) {
		ids, times = append(ids, id), append(times, used[id])
	}
	_, err := s.runAlone(ctx, "keys_used", ids, times)
	return err
}
