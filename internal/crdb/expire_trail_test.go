package crdb_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// leave writes n events and n ended periods of the history for a project. They are a minute apart, beginning at noon.
func leave(t *testing.T, h *house, p ipam.Project, n int) {
	t.Helper()
	var ch storage.Changes
	for i := range n {
		at := noon.Add(time.Duration(i) * time.Minute)
		ch.Events = append(ch.Events, ipam.Event{ID: ipam.NewTimeID(at), ProjectID: p.UID, At: at})
		ch.History = append(ch.History, ipam.Hold{ID: ipam.NewID(), ProjectID: p.UID, Block: cidr(fmt.Sprintf("10.0.0.%d/32", i%2)), Since: at, Until: at})
	}
	require.NoError(t, h.store.InTx(admin(t), "test_leave", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, ch) }))
}

func newProject(t *testing.T, h *house, name string) ipam.Project {
	t.Helper()
	r, err := h.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: name}}, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// rows returns the number of a project's rows in a table.
func rows(t *testing.T, h *house, table string, p ipam.Project) (n int) {
	t.Helper()
	c := dbtest.Connect(t, h.dsn, nil)
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE project_id = $1", p.UID.String()).Scan(&n))
	return n
}

func TestOnlyOldEventsAreDeletedInBatchesByProject(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	a, b, c := newProject(t, h, "a"), newProject(t, h, "b"), newProject(t, h, "c")
	leave(t, h, a, 7)
	leave(t, h, c, 3)
	for _, step := range []struct {
		before  time.Time
		deleted int64
		a, b, c int
	}{
		{noon, 0, 7, 0, 3},
		{noon.Add(time.Minute), 2, 6, 0, 2},
		{noon.Add(4*time.Minute + time.Second), 6, 2, 0, 0},
		{noon.Add(4*time.Minute + time.Second), 0, 2, 0, 0},
		{noon.Add(time.Hour), 2, 0, 0, 0},
	} {
		n, err := h.store.ExpireEvents(admin(t), step.before, 2)
		require.NoError(t, err)
		require.Equal(t, step.deleted, n)
		require.Equal(t, [3]int{step.a, step.b, step.c}, [3]int{rows(t, h, "audit_events", a), rows(t, h, "audit_events", b), rows(t, h, "audit_events", c)})
	}
	require.Equal(t, 7, rows(t, h, "history", a), "history is kept")
}

func TestOnlyOldHoldsAreDeletedInBatchesByProject(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	a, b, c := newProject(t, h, "a"), newProject(t, h, "b"), newProject(t, h, "c")
	leave(t, h, a, 7)
	leave(t, h, c, 3)
	var batch storage.Changes // of one release: more rows than a transaction may delete
	for i := range 5 {
		batch.History = append(batch.History, ipam.Hold{ID: ipam.NewID(), ProjectID: b.UID, Block: cidr(fmt.Sprintf("10.0.1.%d/32", i)), Since: noon, Until: noon})
	}
	require.NoError(t, h.store.InTx(admin(t), "test_leave", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, batch) }))
	for _, step := range []struct {
		before  time.Time
		deleted int64
		a, b, c int
	}{
		{noon, 0, 7, 5, 3},
		{noon.Add(time.Minute), 7, 6, 0, 2},
		{noon.Add(4*time.Minute + time.Second), 6, 2, 0, 0},
		{noon.Add(4*time.Minute + time.Second), 0, 2, 0, 0},
		{noon.Add(time.Hour), 2, 0, 0, 0},
	} {
		n, err := h.store.ExpireHistory(admin(t), step.before, 2)
		require.NoError(t, err)
		require.Equal(t, step.deleted, n)
		require.Equal(t, [3]int{step.a, step.b, step.c}, [3]int{rows(t, h, "history", a), rows(t, h, "history", b), rows(t, h, "history", c)})
	}
	require.Equal(t, 7, rows(t, h, "audit_events", a), "the trail is kept")
}

func TestOnlyDeletedProjectsArePurgedInBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	for limit := 1; limit <= 9; limit++ {
		gone, empty, stays := newProject(t, h, "gone"), newProject(t, h, "empty"), newProject(t, h, fmt.Sprint("stays-", limit))
		leave(t, h, gone, 7)
		leave(t, h, stays, 3)
		n, err := h.store.Purge(admin(t), limit)
		require.NoError(t, err)
		require.Zero(t, n, "nothing of a project that exists")
		for _, p := range []ipam.Project{gone, empty} {
			require.NoError(t, h.svc.DeleteProject(admin(t), p.Name, usecase.Request{}))
			require.Equal(t, 1, rows(t, h, "removals", p))
		}
		clean(t, h.dsn)
		n, err = h.store.Purge(admin(t), limit)
		require.NoError(t, err)
		require.Equal(t, int64(14), n)
		for table, left := range map[string]int{"audit_events": 0, "history": 0, "removals": 0} {
			require.Equal(t, left, rows(t, h, table, gone), table)
			require.Equal(t, left, rows(t, h, table, empty), table)
		}
		require.Equal(t, 3, rows(t, h, "audit_events", stays))
		require.Equal(t, 3, rows(t, h, "history", stays))
		clean(t, h.dsn)
	}
}

// A failed purge continues later: the project stays in the table removals until all its rows are deleted.
func TestPurgeSurvivesAFailedCommit(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	gone := newProject(t, st.direct, "gone")
	leave(t, st.direct, gone, 5)
	require.NoError(t, st.direct.svc.DeleteProject(admin(t), "gone", usecase.Request{}))
	st.proxy.SetRules(pgfault.Once(pgfault.CommittedAnswerLost()))
	_, err := st.store.Purge(admin(t), 2)
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	require.Equal(t, 1, rows(t, st.direct, "removals", gone))
	st.proxy.SetRules(pgfault.Once(pgfault.CommitSerializationFailure()))
	_, err = st.store.Purge(admin(t), 2)
	require.NoError(t, err)
	for _, table := range []string{"audit_events", "history", "removals"} {
		require.Zero(t, rows(t, st.direct, table, gone), table)
	}
}

// After a failover, the standby may lack earlier transactions of a purge. To simulate this, the test adds rows again between the transactions. The
// project stays in the table removals until its last row is deleted.
func TestPurgedProjectIsRemovedWithItsLastTrailRow(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	gone := newProject(t, st.direct, "gone")
	leave(t, st.direct, gone, 3)
	require.NoError(t, st.direct.svc.DeleteProject(admin(t), "gone", usecase.Request{}))
	begun := 0
	st.proxy.SetRules(pgfault.On(pgfault.Begin, func(pgfault.Event) pgfault.Action {
		if begun++; begun <= 5 {
			leave(t, st.direct, gone, 1)
		}
		return pgfault.Action{}
	}))
	_, err := st.store.Purge(admin(t), 2)
	require.NoError(t, err)
	require.Greater(t, begun, 1)
	st.proxy.SetRules()
	clean(t, st.direct.dsn)
	_, err = st.store.Purge(admin(t), 2)
	require.NoError(t, err)
	for _, table := range []string{"audit_events", "history", "removals"} {
		require.Zero(t, rows(t, st.direct, table, gone), table)
	}
}

func TestKeysUsedSurvivesAFailedCommit(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	made, err := st.direct.svc.CreateKey(admin(t), project, ipam.APIKey{Metadata: ipam.Metadata{Name: "k"}, Spec: ipam.APIKeySpec{Role: "viewer"}}, usecase.Request{})
	require.NoError(t, err)
	st.proxy.SetRules(pgfault.Once(pgfault.CommitSerializationFailure()))
	require.NoError(t, st.store.KeysUsed(admin(t), map[ipam.ID]time.Time{made.Value.UID: noon}))
	got, ok, err := st.store.KeyByID(admin(t), made.Value.UID)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, noon, got.LastUsedAt)
}
