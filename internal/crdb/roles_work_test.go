package crdb_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/roletest"
)

// denied is the SQLSTATE for a missing privilege.
const denied = "42501"

// retains lists the jobs that the server does not run, because they need the retention role.
var retains = []string{"JobExpireEvents", "JobPurge"}

// The database user of the server can run all work of a server: each use case that writes or reads, and the background jobs.
func TestServerRoleAllowsAllServerWork(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	dsn := in.DSN[roletest.Server]
	require.NoError(t, schema.Check(t.Context(), dsn))
	require.NoError(t, schema.CheckRegion(t.Context(), dsn, region))
	h := newHouse(t, dsn)
	for i, name := range slices.Sorted(maps.Keys(operations)) {
		o, project := operations[name], fmt.Sprint("writes-", i)
		newProject(t, h, project)
		o.prepare(t, h, project)
		_, err := o.do(admin(t), h.svc, project, o.request())
		require.NoError(t, err, name)
		if o.stored != nil {
			_, err = o.stored(admin(t), h.svc, project)
			require.NoError(t, err, name)
		}
	}
	clean(t, in.DSN[roletest.Reader])
	all := maps.Clone(readings)
	maps.Copy(all, regionReadings)
	for _, job := range retains {
		require.Contains(t, all, job)
		delete(all, job)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { // as a subtest, it closes its stores at the end
			fresh := dbtest.New(t) // some readings cover the whole database
			owner := newHouse(t, fresh)
			newProject(t, owner, "team")
			all[name].prepare(t, owner, "team")
			house := newHouse(t, roletest.AsServer(t, fresh))
			require.NoError(t, all[name].do(admin(t), server{svc: house.svc, store: house.store}, "team"))
		})
	}
}

// Only the user for retention can delete records of the audit trail and the history. The user of the server cannot.
func TestOnlyTheRetentionRoleDeletesRecords(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	h := newHouse(t, in.DSN[roletest.Server])
	stays, goes := newProject(t, h, "stays"), newProject(t, h, "goes")
	leave(t, h, stays, 3)
	leave(t, h, goes, 5)
	require.NoError(t, h.svc.DeleteProject(admin(t), goes.Name, usecase.Request{}))

	for what, work := range map[string]func(*crdb.Store) (int64, error){
		"expire": func(s *crdb.Store) (int64, error) { return s.ExpireEvents(admin(t), noon.Add(time.Hour), 2) },
		"purge":  func(s *crdb.Store) (int64, error) { return s.Purge(admin(t), 2) },
	} {
		_, err := work(h.store)
		require.ErrorContains(t, err, denied, what)
	}
	owner := &house{dsn: in.DSN[roletest.Owner]}
	require.Equal(t, 3, rows(t, owner, "audit_events", stays))
	require.Equal(t, 5, rows(t, owner, "audit_events", goes))

	st, err := schema.CheckUser(t.Context(), in.DSN[roletest.Cron], schema.RetentionRole)
	require.NoError(t, err)
	require.True(t, st.Retains)
	require.Empty(t, st.More)
	require.NoError(t, schema.Check(t.Context(), in.DSN[roletest.Cron]))
	cron := open(t, in.DSN[roletest.Cron])
	n, err := cron.ExpireEvents(admin(t), noon.Add(time.Hour), 2)
	require.NoError(t, err)
	require.Equal(t, int64(3), n)
	n, err = cron.Purge(admin(t), 2)
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, int64(10), "five records and five holds")
	for _, table := range []string{"audit_events", "history", "removals"} {
		require.Zero(t, rows(t, owner, table, goes), table)
	}
	require.Zero(t, rows(t, owner, "audit_events", stays))
	require.Equal(t, 3, rows(t, owner, "history", stays), "history is kept")
	clean(t, in.DSN[roletest.Reader])
}

// A session with a role has exactly the privileges of that role, whichever user has logged in.
func TestSessionRoleLimitsTheStore(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	s := open(t, in.Root, func(o *crdb.Options) { o.Role = in.Prefix + "_server" })
	require.NoError(t, s.InTx(admin(t), "test", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{Events: []ipam.Event{{ID: ipam.NewTimeID(noon), ProjectID: ipam.NewID(), At: noon}}})
	}))
	_, err := s.Purge(admin(t), 1)
	require.ErrorContains(t, err, denied)
}

// Every user may ask the database whether visible data are durable. This needs no grant.
func TestServerRoleMayReadDurabilityState(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	c := dbtest.Connect(t, roletest.AsServer(t, dbtest.New(t)), nil)
	ask, write := crdb.DurableStatements()
	for _, sql := range []string{ask, write} {
		_, err := c.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
}
