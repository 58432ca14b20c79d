package crdb

import (
	"context"
	"net/netip"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// locked is a store with two transactions under locks that may conflict. The second one begins after the first one has read. The first one continues
// when the second one has read, too, or waits for a lock. Nothing depends on timing.
type locked struct {
	ctx   context.Context
	dsn   string
	store *Store
	seen  *attempts
	watch *pgx.Conn
	c     storage.Container
}

func setupLocked(t *testing.T) *locked {
	t.Helper()
	dbtest.OnPostgres(t)
	dsn := dbtest.New(t)
	l := &locked{
		ctx: t.Context(), dsn: dsn,
		c: storage.Container{Region: "local", ID: ipam.NewID(), ProjectID: ipam.NewID(), Block: netip.MustParsePrefix("10.0.0.0/24")},
	}
	l.store, l.seen = openInside(t, dsn+Patience)
	watch, err := pgx.Connect(l.ctx, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = watch.Close(context.WithoutCancel(l.ctx)) })
	l.watch = watch
	l.fence(t)
	return l
}

// fence inserts the version row of a container without free blocks.
func (l *locked) fence(t *testing.T) {
	t.Helper()
	_, err := l.watch.Exec(l.ctx, `INSERT INTO fences (region, id, mark, stock) VALUES ('local', $1, gen_random_uuid(), '\x0100')`, [16]byte(l.c.ID))
	require.NoError(t, err)
}

// step is one of the two transactions, with its locks and its work. do calls read after its reads.
type step struct {
	locks storage.Locks
	do    func(ctx context.Context, tx storage.Tx, read func()) error
}

// meet runs both transactions. It reports whether the second one had to wait before it could read.
func (l *locked) meet(t *testing.T, first, second step) (waited bool) {
	t.Helper()
	begun, read, ended := false, make(chan struct{}), make(chan error, 1)
	require.NoError(t, l.store.InTx(l.ctx, "first", first.locks, func(ctx context.Context, tx storage.Tx) error {
		return first.do(ctx, tx, func() {
			if begun {
				return
			}
			begun = true
			go func() {
				ended <- l.store.InTx(l.ctx, "second", second.locks, func(ctx context.Context, tx storage.Tx) error {
					return second.do(ctx, tx, func() {
						if tx.Attempt() == 0 {
							close(read)
						}
					})
				})
			}()
			waited = l.waits(t, read)
		})
	}))
	require.NoError(t, <-ended)
	require.Equal(t, []string{"committed"}, l.seen.ends("first"))
	return waited
}

// waits polls until the second transaction has read, and then returns false. If that transaction waits for a lock first, it returns true.
func (l *locked) waits(t *testing.T, read <-chan struct{}) bool {
	t.Helper()
	for {
		select {
		case <-read:
			return false
		default:
		}
		var n int
		require.NoError(t, l.watch.QueryRow(l.ctx, `SELECT count(*) FROM pg_locks AS k JOIN pg_database AS d ON d.oid = k.database
			WHERE d.datname = current_database() AND k.locktype = 'advisory' AND NOT k.granted`).Scan(&n))
		if n > 0 {
			return true
		}
	}
}

// releasing returns a step that frees a block and merges it with its free buddy, the other half of the next larger block.
func (l *locked) releasing(block string, locks storage.Locks) step {
	freed := []netip.Prefix{netip.MustParsePrefix(block)}
	return step{locks, func(ctx context.Context, tx storage.Tx, read func()) error {
		buddies, err := tx.FreeRead(ctx, l.c, freespace.Reads{Keys: freespace.MergeCandidates(freed, l.c.Block)})
		if err != nil {
			return err
		}
		read()
		gone, merged := freespace.Merge(freed, buddies, l.c.Block)
		return tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{{Container: l.c, Delete: gone, Insert: merged}}})
	}}
}

func TestExclusiveLockOfAContainerSeesEarlierCommits(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(c ipam.ID) storage.Locks{
		"NamedBefore":     func(c ipam.ID) storage.Locks { return storage.Locks{Exclusive: []ipam.ID{c}} },
		"ReachedOnTheWay": func(ipam.ID) storage.Locks { return storage.Locks{Shared: []ipam.ID{ipam.NewID()}} },
		"SharedAndThenAlone": func(c ipam.ID) storage.Locks {
			return storage.Locks{Shared: []ipam.ID{ipam.NewID()}, Exclusive: []ipam.ID{c}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := setupLocked(t)
			require.True(t, l.meet(t, l.releasing("10.0.0.0/25", of(l.c.ID)), l.releasing("10.0.0.128/25", of(l.c.ID))))
			left, err := l.store.FreeList(l.ctx, l.c, 32, netip.Prefix{}, 10)
			require.NoError(t, err)
			require.Equal(t, []netip.Prefix{l.c.Block}, left, "the second has merged what the first released")
			require.Equal(t, []string{"committed"}, l.seen.ends("second"), "in one run")
		})
	}
}

func TestContainersOnOnePageDoNotConflict(t *testing.T) {
	t.Parallel()
	l := setupLocked(t)
	other := *l
	other.c.ID = ipam.NewID()
	other.fence(t)
	one, two := storage.Locks{Exclusive: []ipam.ID{l.c.ID}}, storage.Locks{Exclusive: []ipam.ID{other.c.ID}}
	require.False(t, l.meet(t, l.releasing("10.0.0.0/25", one), other.releasing("10.0.0.0/25", two)))
	require.Equal(t, []string{"committed"}, l.seen.ends("second"))
}

func TestClaimsShareTheProjectLockAndQuotasExcludeThem(t *testing.T) {
	t.Parallel()
	project := ipam.NewID()
	shared, alone := storage.Locks{Shared: []ipam.ID{project}}, storage.Locks{Exclusive: []ipam.ID{project}}
	for name, c := range map[string]struct {
		first, second storage.Locks
		waits         bool
	}{
		"ClaimAndClaim": {shared, shared, false},
		"ClaimAndQuota": {shared, alone, true},
		"QuotaAndClaim": {alone, shared, true},
		"QuotaAndQuota": {alone, alone, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := setupLocked(t)
			look := func(locks storage.Locks) step {
				return step{locks, func(ctx context.Context, tx storage.Tx, read func()) error {
					_, err := tx.QuotaParts(ctx, []ipam.ID{project}, 0)
					read()
					return err
				}}
			}
			require.Equal(t, c.waits, l.meet(t, look(c.first), look(c.second)))
		})
	}
}

func TestReadOfAllQuotaShardsIsExclusive(t *testing.T) {
	t.Parallel()
	l := setupLocked(t)
	quota := ipam.NewID()
	sum := step{storage.Locks{Shared: []ipam.ID{ipam.NewID()}}, func(ctx context.Context, tx storage.Tx, read func()) error {
		_, err := tx.QuotaShards(ctx, []ipam.ID{quota})
		read()
		return err
	}}
	require.True(t, l.meet(t, sum, sum))
}

func TestLockTimeoutIsContention(t *testing.T) {
	t.Parallel()
	l := setupLocked(t)
	_, err := l.watch.Exec(l.ctx, "SELECT pg_advisory_lock($1)", lockKey(l.c.ID))
	require.NoError(t, err)
	s, seen := openInside(t, l.dsn+"&lock_timeout=1ms")
	one := l.releasing("10.0.0.0/25", storage.Locks{Exclusive: []ipam.ID{l.c.ID}})
	err = s.InTx(l.ctx, "second", one.locks, func(ctx context.Context, tx storage.Tx) error { return one.do(ctx, tx, func() {}) })
	require.True(t, ipam.IsCode(err, ipam.CodeContention), "%v", err)
	ends := seen.ends("second")
	require.Len(t, ends, outcome.MaxAttempts)
	require.Equal(t, "again 55P03", ends[0])
}

func TestChangeOfAnUnlockedContainerIsRefused(t *testing.T) {
	t.Parallel()
	l := setupLocked(t)
	ch := storage.Changes{Free: []storage.FreeChange{{Container: l.c, Insert: []netip.Prefix{l.c.Block}}}}
	write := func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, ch) }
	require.ErrorContains(t, l.store.InTx(l.ctx, "write", storage.Locks{Shared: []ipam.ID{l.c.ID}}, write), "without its lock")
	require.NoError(t, l.store.InTx(l.ctx, "write", storage.Locks{Exclusive: []ipam.ID{l.c.ID}}, write))
}

func TestTransactionWithLocksIsReadCommitted(t *testing.T) {
	t.Parallel()
	l := setupLocked(t)
	for want, locks := range map[string]storage.Locks{"serializable": {}, "read committed": {Exclusive: []ipam.ID{l.c.ID}}} {
		require.NoError(t, l.store.DryRun(l.ctx, "level", locks, func(ctx context.Context, tx storage.Tx) error {
			level, err := Isolation(ctx, tx)
			require.Equal(t, want, level)
			return err
		}))
	}
}
