package crdb_test

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// TestProjectWaitingForItsLockLeavesConnectionsToOthers lets many requests of one project wait for the lock of that project, which another process
// holds. At the same time, another project claims, releases and reads.
func TestProjectWaitingForItsLockLeavesConnectionsToOthers(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	const requests, connections = 12, 8
	h := newHouse(t, dbtest.New(t)+crdb.Patience, func(o *crdb.Options) { o.MaxConnections = connections })
	payers := map[string]ipam.ID{}
	for _, name := range []string{"greedy", "modest"} {
		p, err := h.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: name}}, usecase.Request{})
		require.NoError(t, err)
		payers[name] = p.Value.UID
	}
	as := func(name string) context.Context { return tenancy.WithPayer(admin(t), payers[name]) }
	_, err := h.svc.CreatePool(as("modest"), "modest", rootPool("pool", "10.0.0.0/24"), usecase.Request{})
	require.NoError(t, err)

	other, err := pgx.Connect(t.Context(), h.dsn)
	require.NoError(t, err)
	defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
	id := payers["greedy"]
	key := int64(binary.BigEndian.Uint64(id[8:]))
	_, err = other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", key)
	require.NoError(t, err)
	var ended atomic.Int64
	ends := make(chan error, requests)
	for range requests {
		ctx := as("greedy")
		go func() {
			_, err := h.svc.PutQuota(ctx, "greedy", quotaOf(1000), usecase.Request{DryRun: true})
			ended.Add(1)
			ends <- err
		}()
	}
	for waiting := 0; waiting+h.store.QueuedForConnections() < requests; {
		require.NoError(t, other.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks AS k JOIN pg_database AS d ON d.oid = k.database
			WHERE d.datname = current_database() AND k.locktype = 'advisory' AND NOT k.granted`).Scan(&waiting))
		require.Zero(t, ended.Load())
	}
	for _, name := range []string{"first", "second", "third"} { // for the second and the third claim, the server uses its cache
		_, err = h.svc.CreateClaim(as("modest"), "modest", claimOf(name, "modest", "pool", 32), usecase.Request{})
		require.NoError(t, err)
		_, err = h.svc.GetClaim(as("modest"), "modest", name, usecase.Reading{})
		require.NoError(t, err)
	}
	require.NoError(t, h.svc.DeleteClaim(as("modest"), "modest", "first", usecase.Request{}))
	require.Zero(t, ended.Load(), "the other project was served when the requests had given up")
	_, err = other.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", key)
	require.NoError(t, err)
	for range requests {
		require.NoError(t, <-ends)
	}
}

// Another transaction holds the lock of a project, as a new quota does while it counts claims. Requests of this project on a shared pool wait before
// they lock the pool. So the server still serves claims and batches of another project on that pool.
func TestProjectWaitingForItsLockDoesNotBlockASharedPool(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	h := newHouse(t, dbtest.New(t)+crdb.Patience, func(o *crdb.Options) { o.MaxConnections = 16 })
	ids := map[string]ipam.ID{}
	for _, name := range []string{"owner", "greedy", "modest"} {
		p, err := h.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: name}}, usecase.Request{})
		require.NoError(t, err)
		ids[name] = p.Value.UID
	}
	as := func(name string) context.Context { return tenancy.WithPayer(admin(t), ids[name]) }
	pool := rootPool("pool", "10.0.0.0/16")
	pool.Spec.Visibility = ipam.VisibilityShared
	_, err := h.svc.CreatePool(as("owner"), "owner", pool, usecase.Request{})
	require.NoError(t, err)
	_, err = h.svc.PutPoolGrant(as("owner"), "owner", "pool", ipam.Everybody, usecase.Request{})
	require.NoError(t, err)
	claim := func(by, name string) error {
		_, err := h.svc.CreateClaim(as(by), by, claimOf(name, "owner", "pool", 28), usecase.Request{})
		return err
	}
	batch := func(by, name string) error {
		_, err := h.svc.CreateClaimBatch(as(by), by, []ipam.Claim{claimOf(name, "owner", "pool", 28)}, usecase.Request{})
		return err
	}
	for name := range ids { // the first claim of each project records the project's region
		require.NoError(t, claim(name, "before"))
	}

	other, err := pgx.Connect(t.Context(), h.dsn)
	require.NoError(t, err)
	defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
	id := ids["greedy"]
	key := int64(binary.BigEndian.Uint64(id[8:]))
	_, err = other.Exec(t.Context(), "SELECT pg_advisory_lock($1)", key)
	require.NoError(t, err)
	ends := make(chan error, 3)
	go func() { ends <- claim("greedy", "one") }()
	go func() { ends <- batch("greedy", "two") }()
	go func() { ends <- h.svc.DeleteClaim(as("greedy"), "greedy", "before", usecase.Request{}) }()
	for waiting := 0; waiting < 3; {
		require.NoError(t, other.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks AS k JOIN pg_database AS d ON d.oid = k.database
			WHERE d.datname = current_database() AND k.locktype = 'advisory' AND NOT k.granted`).Scan(&waiting))
		require.Empty(t, ends)
	}
	require.NoError(t, claim("modest", "first"))
	require.NoError(t, batch("modest", "second"))
	require.NoError(t, h.svc.DeleteClaim(as("modest"), "modest", "first", usecase.Request{}))
	require.Empty(t, ends, "the other project was served when the requests had given up")
	_, err = other.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", key)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, <-ends)
	}
	report, err := audit.Run(t.Context(), h.dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}
