package crdb

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// attempts records the endings of attempts.
type attempts struct {
	mu   sync.Mutex
	list []Attempt
}

func (a *attempts) watch(one Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, one)
}

// ends returns the endings of an operation's attempts, in order. If an attempt has a SQLSTATE, it follows the ending.
func (a *attempts) ends(op string) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.list {
		switch {
		case one.Op != op:
		case one.SQLState != "":
			out = append(out, one.End+" "+one.SQLState)
		default:
			out = append(out, one.End)
		}
	}
	return out
}

func openInside(t *testing.T, dsn string, options ...func(*Options)) (*Store, *attempts) {
	t.Helper()
	seen := &attempts{}
	o := Options{Region: "local", OnAttempt: seen.watch}
	for _, option := range options {
		option(&o)
	}
	s, err := Open(t.Context(), dsn, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, seen
}

// unfenced changes free blocks without a change to the container's version row. With that row, two such changes would conflict before either commits.
func unfenced(ctx context.Context, t storage.Tx, c storage.Container, gone, come []netip.Prefix) error {
	var err error
	change := func(sql string, blocks []netip.Prefix) {
		for _, b := range blocks {
			if err == nil {
				_, err = t.(*tx).conn.Exec(ctx, sql, c.Region, c.ID, rows.HostBits(b), rows.Base(b))
			}
		}
	}
	change("DELETE FROM free_blocks WHERE region = $1 AND container_id = $2 AND host_bits = $3 AND base = $4", gone)
	change("INSERT INTO free_blocks (region, container_id, host_bits, base) VALUES ($1, $2, $3, $4)", come)
	return err
}

// skew releases two buddies, which are the two halves of a block, in two transactions. Each transaction sees the other half as held. Both closures
// end before either transaction commits. So only the COMMIT of the second transaction can detect the conflict.
func skew(t *testing.T, s *Store) (left []netip.Prefix, first, second error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := storage.Container{Region: "local", ID: ipam.NewID(), ProjectID: ipam.NewID(), Block: netip.MustParsePrefix("10.0.0.0/24")}
	release := func(op, block string, read, wrote func()) error {
		freed := []netip.Prefix{netip.MustParsePrefix(block)}
		return s.InTx(ctx, op, storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			buddies, err := tx.FreeRead(ctx, c, freespace.Reads{Keys: freespace.MergeCandidates(freed, c.Block)})
			if err != nil {
				return err
			}
			if tx.Attempt() == 0 {
				read()
			}
			gone, merged := freespace.Merge(freed, buddies, c.Block)
			err = unfenced(ctx, tx, c, gone, merged)
			if tx.Attempt() == 0 {
				wrote()
			}
			return err
		})
	}
	await := func(ch <-chan struct{}) func() {
		return func() {
			select {
			case <-ch:
			case <-ctx.Done():
			}
		}
	}
	var read, wrote sync.WaitGroup
	read.Add(2)
	wrote.Add(2)
	both := func(wg *sync.WaitGroup) func() {
		return func() {
			wg.Done()
			all := make(chan struct{})
			go func() { wg.Wait(); close(all) }()
			await(all)()
		}
	}
	firstDone, secondDone := make(chan struct{}), make(chan struct{})
	var told error
	go func() {
		defer close(secondDone)
		told = release("second", "10.0.0.128/25", both(&read), func() { both(&wrote)(); await(firstDone)() })
	}()
	first = release("first", "10.0.0.0/25", both(&read), both(&wrote))
	close(firstDone)
	<-secondDone
	left, err := s.FreeList(ctx, c, 32, netip.Prefix{}, 10)
	require.NoError(t, err)
	return left, first, told
}

func TestWriteSkewAtCommitIsNeverReportedAsSuccess(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	s, seen := openInside(t, dbtest.New(t)+Patience)
	left, first, second := skew(t, s)
	require.NoError(t, first)
	require.NoError(t, second)
	require.Equal(t, []string{"committed"}, seen.ends("first"))
	require.Equal(t, []string{"again 40001", "committed"}, seen.ends("second"), "COMMIT said no, and was heard")
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}, left, "the second run saw what the first had done")
}

// The test shows why the engine for PostgreSQL does not use cockroach-go's protocol. The protocol expects RELEASE to be the commit, and ignores the
// result of COMMIT. So it reports success although the change is lost.
func TestCockroachProtocolOnPostgresLosesTheCommit(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	s, seen := openInside(t, dbtest.New(t)+Patience)
	s.engine = cockroach{}
	left, first, second := skew(t, s)
	require.NoError(t, first)
	require.NoError(t, second, "a lie")
	require.Equal(t, []string{"committed"}, seen.ends("second"))
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/25")}, left, "the second half is neither held nor free")
}

func TestPostgresReceivesOnlyWholeTransactions(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	var mu sync.Mutex
	var said []string
	byItself := []string{analysed("clock_read"), analysed("compatibility_get"), analysed("region_list"), ""} // the driver's ping is an SQL comment
	proxy, err := pgfault.Start(t.Context(), dbtest.New(t), pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if e.Executes() && !slices.Contains(byItself, e.SQL) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, e.SQL)
		}
		return pgfault.Action{}
	}))
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	s, _ := openInside(t, proxy.DSN())
	require.Equal(t, "postgresql", s.Engine())
	mu.Lock()
	said = nil
	mu.Unlock()
	key := storage.ProjectKey{ID: ipam.NewID()}
	for _, do := range []func(context.Context, string, storage.Locks, func(context.Context, storage.Tx) error) error{s.InTx, s.DryRun} {
		require.NoError(t, do(t.Context(), "read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.ClaimLookup(ctx, storage.ClaimQuery{Project: key, Name: "none"})
			return err
		}))
	}
	get := analysed("claim_get")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{beginStatement, get, "commit", beginStatement, get, "rollback"}, said, "no savepoint, and nothing without BEGIN")
}
