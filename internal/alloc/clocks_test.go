package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// off maps each server in these tests to the clock error of its machine.
var off = map[string]time.Duration{"right": 0, "fast": 10 * time.Minute, "slow": -20 * time.Minute}

// serverOff opens another server on a machine with a wrong clock. Like any server, it uses the database's clock.
func (b *bundle) serverOff(t testing.TB, by time.Duration) (*alloc.Service, *crdb.Store) {
	t.Helper()
	store, err := crdb.Open(b.ctx, b.dsn, crdb.Options{Region: region, LocalTime: func() time.Time { return time.Now().Add(by) }})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return alloc.New(store, alloc.Options{Region: region}), store
}

// serversWithClockOffsets makes a bundle, and one server for each entry of off. All these servers use the database's clock.
func serversWithClockOffsets(t testing.TB) (*bundle, map[string]*alloc.Service) {
	t.Helper()
	b := setup(t)
	all := map[string]*alloc.Service{}
	for name, by := range off {
		all[name], _ = b.serverOff(t, by)
	}
	b.Service = all["right"]
	return b, all
}

// databaseTime returns the time of the database's clock.
func (b *bundle) databaseTime(t testing.TB) (now time.Time) {
	t.Helper()
	require.NoError(t, b.sql(t).QueryRow(b.ctx, "SELECT clock_timestamp()").Scan(&now))
	return now
}

func (b *bundle) sql(t testing.TB) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(b.ctx, b.dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(b.ctx) })
	return c
}

func TestCooldownIsEquallyLongOnEveryServer(t *testing.T) {
	t.Parallel()
	const reuseAfter = 5 * time.Minute
	const doubt = 10 * time.Millisecond // maximum lag of a time that a server reads without a lock
	b, servers := serversWithClockOffsets(t)
	b.pool(t, root("net", "10.0.0.0/24", coolsDown(reuseAfter)))
	blocks := map[string]ipam.Claim{}
	for name, s := range servers {
		r, err := s.CreateClaim(b.ctx, project, claimOf(name, "net", length(32)), usecase.Request{})
		require.NoError(t, err)
		blocks[name] = r.Value
		before := b.databaseTime(t)
		require.NoError(t, s.DeleteClaim(b.ctx, project, name, usecase.Request{}))
		a, err := s.GetAllocation(b.ctx, project, r.Value.AllocationID.String(), usecase.Reading{})
		require.NoError(t, err)
		require.False(t, a.CoolUntil.Before(before.Add(reuseAfter-doubt)), "released by the %s server: cools down until %s, at %s", name, a.CoolUntil, before)
		require.False(t, a.CoolUntil.After(b.databaseTime(t).Add(reuseAfter)), "released by the %s server: cools down until %s", name, a.CoolUntil)
	}
	for name, s := range servers {
		n, err := s.FreeCooled(b.ctx, 100)
		require.NoError(t, err)
		require.Zero(t, n, "freed before its time by the %s server", name)
	}
	for name, s := range servers {
		_, err := b.sql(t).Exec(b.ctx, "UPDATE holds SET cool_until = clock_timestamp() - INTERVAL '1 second' WHERE id = $1", blocks[name].AllocationID.String())
		require.NoError(t, err)
		n, err := s.FreeCooled(b.ctx, 100)
		require.NoError(t, err)
		require.Equal(t, 1, n, "its time is over, and the %s server does not see it", name)
	}
}

func TestHoldsOfABlockDoNotOverlapAcrossServers(t *testing.T) {
	t.Parallel()
	b, servers := serversWithClockOffsets(t)
	b.pool(t, root("net", "10.0.0.0/31"))
	began := b.databaseTime(t)
	var wait sync.WaitGroup
	for name, s := range servers {
		for caller := range 5 {
			wait.Go(func() {
				for n := range 12 {
					claim := fmt.Sprintf("%s-%d-%d", name, caller, n)
					_, err := s.CreateClaim(b.ctx, project, claimOf(claim, "net", length(32)), usecase.Request{})
					if ipam.IsCode(err, ipam.CodePoolExhausted) {
						continue
					}
					if err == nil {
						err = s.DeleteClaim(b.ctx, project, claim, usecase.Request{})
					}
					if err != nil {
						t.Errorf("%s: %v", claim, err)
					}
				}
			})
		}
	}
	wait.Wait()
	ended, holds := b.databaseTime(t), 0
	for _, addr := range []string{"10.0.0.0", "10.0.0.1"} {
		var later *ipam.Hold
		for _, h := range all(t, 100, func(n int, c string) (paging.Page[ipam.Hold], error) {
			return b.GetHistory(b.ctx, project, address(addr), time.Time{}, n, c, usecase.Reading{})
		}) {
			require.True(t, h.Since.Before(h.Until), "%s held %s from %s until %s", h.Holder, h.Block, h.Since, h.Until)
			require.False(t, h.Since.Before(began.Truncate(time.Microsecond)), "%s held %s from %s, and %s was before that", h.Holder, h.Block, h.Since, began)
			require.False(t, h.Until.After(ended), "%s held %s until %s, which is to come", h.Holder, h.Block, h.Until)
			if later != nil {
				require.False(t, later.Since.Before(h.Until), "%s held %s until %s, %s from %s", h.Holder, h.Block, h.Until, later.Holder, later.Since)
			}
			later = &h
			holds++
		}
	}
	require.Greater(t, holds, 16, "blocks must have changed hands")
}

func TestTrailSinceATimeIsCompleteAcrossServers(t *testing.T) {
	t.Parallel()
	b, servers := serversWithClockOffsets(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	since, made := b.databaseTime(t), []string{}
	for n := range 4 {
		for name, s := range servers {
			claim := fmt.Sprintf("%s-%d", name, n)
			_, err := s.CreateClaim(b.ctx, project, claimOf(claim, "net", length(32)), usecase.Request{})
			require.NoError(t, err)
			made = append(made, claim)
		}
	}
	for name, s := range servers {
		page, err := s.ListEvents(b.ctx, project, trail.EventFilter{Kind: "IPClaim", Since: since}, 100, "", usecase.Reading{})
		require.NoError(t, err)
		at := map[string]time.Time{}
		for _, e := range page.Items {
			at[e.Name] = e.At
		}
		require.Len(t, at, len(made), "asked of the %s server", name)
		for i := range made[1:] {
			require.True(t, at[made[i]].Before(at[made[i+1]]), "%s was before %s", made[i], made[i+1])
		}
	}
}

func TestIdempotencyKeyLifetimeIsEqualOnEveryServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	right, _ := b.serverOff(t, 0)
	request := usecase.Request{Key: "k", Fingerprint: [16]byte{1}}
	first, err := right.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: "s"}}, request)
	require.NoError(t, err)
	for _, by := range []time.Duration{usecase.StoredResponseLifetime + time.Hour, -usecase.StoredResponseLifetime - time.Hour} {
		s, store := b.serverOff(t, by)
		n, err := store.ExpireStoredResponses(b.ctx, store.Now(), 100)
		require.NoError(t, err)
		require.Zero(t, n, "deleted by a server whose clock is off by %s", by)
		again, err := s.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: "s"}}, request)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, first.Value.UID, again.Value.UID)
	}
	_, err = right.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: "other"}}, usecase.Request{Key: "other"})
	require.NoError(t, err)
	_, err = b.sql(t).Exec(b.ctx, "UPDATE idempotency_keys SET expires_at = clock_timestamp()")
	require.NoError(t, err)
	slow, store := b.serverOff(t, -time.Hour)
	_, err = slow.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: "s"}}, request)
	refused(t, err, ipam.CodeAlreadyExists) // the stored response has expired, so this is a new request, and its name is taken
	n, err := store.ExpireStoredResponses(b.ctx, store.Now(), 100)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func TestTrailRetentionIsEqualOnEveryServer(t *testing.T) {
	t.Parallel()
	b, servers := serversWithClockOffsets(t)
	for name, s := range servers {
		_, err := s.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: name}}, usecase.Request{})
		require.NoError(t, err)
	}
	for _, by := range []time.Duration{0, 2 * time.Hour, -2 * time.Hour} {
		_, store := b.serverOff(t, by)
		n, err := store.ExpireEvents(b.ctx, store.Now().Add(-time.Hour), 100)
		require.NoError(t, err)
		require.LessOrEqual(t, n, int64(3), "what setup has recorded on its own day")
	}
	page, err := b.ListEvents(b.ctx, project, trail.EventFilter{Kind: "Space"}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, len(servers), "none is an hour old")
}

func TestKeyExpiryMustLieInTheDatabasesFuture(t *testing.T) {
	t.Parallel()
	b, servers := serversWithClockOffsets(t)
	now := b.databaseTime(t)
	for name, s := range servers {
		key := func(n string, at time.Time) ipam.APIKey {
			return ipam.APIKey{Metadata: ipam.Metadata{Name: name + n}, Spec: ipam.APIKeySpec{Role: "viewer", ExpiresAt: at}}
		}
		_, err := s.CreateKey(b.ctx, project, key("-soon", now.Add(5*time.Minute)), usecase.Request{})
		require.NoError(t, err, "asked of the %s server", name)
		_, err = s.CreateKey(b.ctx, project, key("-past", now.Add(-5*time.Minute)), usecase.Request{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
}
