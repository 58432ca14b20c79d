package crdb_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// record writes n events of a project in one transaction, mixed with events of another project. It returns the n events.
func (h *house) record(t *testing.T, of, beside ipam.Project, at time.Time, n int) (made []ipam.Event) {
	t.Helper()
	var ch storage.Changes
	first, other := ipam.NewTimeID(at), ipam.NewTimeID(at)
	for i := range n {
		e := ipam.Event{
			ID: first.Numbered(at, uint16(i)), ProjectID: of.UID, At: at, Subject: "corp:alice", RequestID: ipam.NewID().String(),
			Operation: "createClaim", Kind: "IPClaim", Name: fmt.Sprint("c-", i), Outcome: ipam.OutcomeOK,
			After: []byte(`{"allocatedCIDR":"` + cidr(fmt.Sprintf("10.0.%d.%d/32", i/256, i%256)).String() + `"}`),
		}
		made = append(made, e)
		e.ID, e.ProjectID = other.Numbered(at, uint16(i)), beside.UID
		ch.Events = append(ch.Events, made[i], e)
	}
	require.NoError(t, h.store.InTx(admin(t), "test_record", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, ch) }))
	return made
}

// trailOf writes an audit trail with all forms of rows: rows with one event, rows with several events, and transactions with several rows. Two
// servers write it, and some events are in the same millisecond. It returns all events, the newest first.
func trailOf(t *testing.T, p ipam.Project, here, there *house) (all []ipam.Event) {
	t.Helper()
	beside := newProject(t, here, "beside")
	for i, each := range []struct {
		h     *house
		after time.Duration
		n     int
	}{
		{here, 0, 1}, {there, 0, 1}, {there, time.Millisecond, 16}, {here, time.Millisecond, 5}, {here, 1500 * time.Microsecond, 7}, {there, 1999 * time.Microsecond, 3},
		{here, 2 * time.Millisecond, 1}, {here, time.Second, 150}, {there, time.Second, 120}, {here, time.Minute, 2}, {there, time.Minute, 2},
	} {
		made := each.h.record(t, p, beside, noon.Add(each.after), each.n)
		require.Len(t, made, each.n, "%d", i)
		all = append(all, made...)
	}
	slices.SortFunc(all, func(a, b ipam.Event) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	require.Less(t, rows(t, here, "audit_events", p), len(all)/8, "rows")
	require.Greater(t, rows(t, here, "audit_events", p), 11, "some transactions write several")
	return all
}

func TestTrailReadsEventsIndependentlyOfTheirRows(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string]func(t *testing.T) (here, there *house){
		"OneRegion": func(t *testing.T) (here, there *house) {
			t.Helper()
			dsn := dbtest.New(t)
			return newHouse(t, dsn), newHouse(t, dsn)
		},
		"TwoRegions": func(t *testing.T) (here, there *house) { t.Helper(); return abroad(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := servers(t)
			p := newProject(t, here, "tenant")
			all := trailOf(t, p, here, there)
			t.Run("Pages", func(t *testing.T) { readInPages(t, here, storage.Key(p), all) })
			t.Run("Cursors", func(t *testing.T) { readFromTheMiddle(t, there, storage.Key(p), all) })
			t.Run("Times", func(t *testing.T) { readTimes(t, here, p.Name, all) })
			t.Run("Retention", func(t *testing.T) { expireRows(t, here, there, p, all) })
		})
	}
}

func readInPages(t *testing.T, h *house, of storage.ProjectKey, all []ipam.Event) {
	t.Helper()
	for limit := 1; limit <= 40; limit++ {
		var got []ipam.Event
		for before := (ipam.ID{}); ; {
			page, err := h.store.EventList(admin(t), of, ipam.ID{}, before, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), limit)
			if got = append(got, page...); len(page) < limit {
				break
			}
			before = page[limit-1].ID
		}
		require.Equal(t, all, got, "in pages of %d", limit)
	}
}

func readFromTheMiddle(t *testing.T, h *house, of storage.ProjectKey, all []ipam.Event) {
	t.Helper()
	for i, e := range all {
		got, err := h.store.EventList(admin(t), of, ipam.ID{}, e.ID, 3)
		require.NoError(t, err)
		require.Equal(t, append([]ipam.Event(nil), all[i+1:min(i+4, len(all))]...), got, "below the event %d", i)
		got, err = h.store.EventList(admin(t), of, e.ID, ipam.ID{}, len(all))
		require.NoError(t, err)
		require.Equal(t, all[:i+1], got, "down to the event %d", i)
	}
}

func readTimes(t *testing.T, h *house, project string, all []ipam.Event) {
	t.Helper()
	edges := []time.Time{{}, noon.Add(-time.Hour), noon.Add(time.Hour)}
	for _, e := range all {
		if !slices.Contains(edges, e.At) {
			edges = append(edges, e.At, e.At.Add(time.Microsecond))
		}
	}
	for _, since := range edges {
		for _, until := range edges {
			var want []string
			for _, e := range all {
				if (since.IsZero() || !e.At.Before(since)) && (until.IsZero() || e.At.Before(until)) {
					want = append(want, e.ID.String())
				}
			}
			got := pages(t, func(cursor string) (paging.Page[ipam.Event], error) {
				return h.svc.ListEvents(admin(t), project, trail.EventFilter{Since: since, Until: until}, 100, cursor, usecase.Reading{})
			}, func(e ipam.Event) string { return e.ID.String() })
			require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "from %s to %s", since, until)
		}
	}
}

// expireRows deletes the events before a certain time, with two rows in each transaction. It repeats this for later and later times.
func expireRows(t *testing.T, here, there *house, p ipam.Project, all []ipam.Event) {
	t.Helper()
	beside, err := here.store.ProjectGet(admin(t), "beside")
	require.NoError(t, err)
	for _, after := range []time.Duration{time.Millisecond, 2 * time.Millisecond, time.Second, time.Second + time.Millisecond, time.Hour} {
		before := noon.Add(after)
		kept := slices.DeleteFunc(slices.Clone(all), func(e ipam.Event) bool { return e.At.Before(before) })
		left, err := here.store.EventList(admin(t), storage.Key(p), ipam.ID{}, ipam.ID{}, len(all))
		require.NoError(t, err)
		old := len(left) - len(kept)
		var deleted int64
		for _, h := range []*house{here, there} {
			n, err := h.store.ExpireEvents(admin(t), before, 2)
			require.NoError(t, err)
			deleted += n
		}
		require.Equal(t, int64(2*old), deleted, "events, and not rows, of both projects")
		for _, of := range []ipam.Project{p, beside} {
			left, err = here.store.EventList(admin(t), storage.Key(of), ipam.ID{}, ipam.ID{}, len(all))
			require.NoError(t, err)
			require.Len(t, left, len(kept))
		}
	}
}
