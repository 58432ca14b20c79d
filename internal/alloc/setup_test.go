package alloc_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

const (
	region  = "local"
	project = "acme" // tenant of most tests
)

func TestMain(m *testing.M) {
	migrate := func(regions ...string) func(ctx context.Context, dsn string) error {
		return func(ctx context.Context, dsn string) error {
			return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: regions})
		}
	}
	dbtest.Main(m, dbtest.Config{Migrate: migrate(region), Kinds: map[string]func(context.Context, string) error{threeRegions: migrate(region, eu, us)}})
}

// bundle has the use cases on a new database. Only the test moves its clock. A method that takes a testing.TB fails the test if the request fails. To
// check an error, a test calls the use case of the embedded Service instead.
type bundle struct {
	*alloc.Service
	ctx      context.Context // of a platform admin
	dsn      string
	clock    *clock
	attempts *attempts
	lends    string // project that offers pools to others; "": provider
}

// setup makes a bundle and its project. At the end of the test, the audit checks all invariants of the database.
func setup(t testing.TB) *bundle {
	t.Helper()
	return setupOn(t, dbtest.New(t))
}

func setupOn(t testing.TB, dsn string) *bundle {
	t.Helper()
	b := &bundle{
		ctx:   tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "tester", Method: "dev", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}}),
		dsn:   dsn,
		clock: &clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)},
	}
	t.Cleanup(func() { auditClean(t, b.dsn) })
	b.Service, b.attempts = b.server(t)
	require.NoError(t, b.EnsurePlatform(b.ctx))
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: ipam.Metadata{Name: project}}, usecase.Request{})
	require.NoError(t, err)
	return b
}

// server makes another service on the database. Like another process, it has its own connections, locks and groups.
func (b *bundle) server(t testing.TB) (*alloc.Service, *attempts) {
	t.Helper()
	store, seen := b.store(t)
	return b.serve(store), seen
}

// store opens another store on the database.
func (b *bundle) store(t testing.TB, options ...func(*crdb.Options)) (*crdb.Store, *attempts) {
	t.Helper()
	seen := &attempts{ends: map[string]int{}}
	o := crdb.Options{Region: region, OnAttempt: seen.add}
	for _, option := range options {
		option(&o)
	}
	store, err := crdb.Open(b.ctx, b.dsn, o)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store, seen
}

// serve makes the use cases on a store. The test may have wrapped the store.
func (b *bundle) serve(store storage.Store) *alloc.Service {
	return alloc.New(store, alloc.Options{Region: region, Clock: b.clock.read})
}

func auditClean(t testing.TB, dsn string) {
	t.Helper()
	report, err := audit.Run(context.Background(), dsn) // the test's context has ended
	require.NoError(t, err)
	require.Empty(t, report.Findings, "the audit")
}

// clock is a clock that moves only on request.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// attempts counts the attempts of transactions and reads. The key is the operation and the end of the attempt, such as "claim_group committed".
type attempts struct {
	mu   sync.Mutex
	ends map[string]int
}

func (a *attempts) add(at crdb.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends[at.Op+" "+at.End]++
}

func (a *attempts) count(op, end string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ends[op+" "+end]
}
