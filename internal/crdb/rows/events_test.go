package rows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

var at = time.Date(2026, 11, 23, 8, 0, 0, 123_456_000, time.UTC)

// claimEvents returns the events of a group with n claims, in the form in which the use cases write them.
func claimEvents(tb testing.TB, n int, dress func(c *ipam.Claim, i int)) []ipam.Event {
	tb.Helper()
	ctx := tenancy.WithPrincipal(context.Background(), tenancy.Principal{Subject: "corp:build-bot@example.com", Method: "oidc"})
	first, address := ipam.NewTimeID(at), netip.MustParseAddr("10.0.17.3")
	out := make([]ipam.Event, n)
	for i := range out {
		from := tenancy.Origin{Remote: "192.0.2.17", RequestID: ipam.NewID().String(), Operation: "createClaim"}
		c := ipam.Claim{
			Metadata: ipam.Metadata{Name: fmt.Sprintf("vm-%05d", 31000+i*7)},
			Pool:     ipam.Ref{Project: "platform", Name: "production-v4"}, Block: netip.PrefixFrom(address, 32), ReclaimPolicy: ipam.ReclaimDelete,
		}
		c.Spec.PoolRef = c.Pool
		dress(&c, i)
		e, err := trail.ClaimEvent(trail.Attempt(tenancy.WithOrigin(ctx, from), at, ipam.ID{1}, trail.KindClaim, ""), nil, &c)
		require.NoError(tb, err)
		e.ID = first.Numbered(at, uint16(i))
		out[i], address = e, address.Next()
	}
	return out
}

func bare(*ipam.Claim, int) {}

func labelled(c *ipam.Claim, i int) {
	c.Labels = map[string]string{"app": "billing", "env": "prod", "host": fmt.Sprintf("node-%x.example.com", i*7919)}
	c.Annotations = map[string]string{"ticket": fmt.Sprintf("OPS-%d", 90000+i*13)}
	c.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "platform", Name: "std"}}
}

// incompressible gives every third claim random annotations. They are larger than a row may be.
func incompressible(c *ipam.Claim, i int) {
	c.Annotations = map[string]string{}
	for k := range 70 {
		c.Annotations[fmt.Sprint("k", k)] = ipam.NewID().String()
	}
	if i%3 > 0 {
		c.Annotations = nil
	}
}

func unpacked(tb require.TestingT, packed []rows.EventRow) (out []ipam.Event) {
	for _, r := range packed {
		events, err := r.Unpack()
		require.NoError(tb, err)
		require.Len(tb, events, int(r.Count))
		require.Equal(tb, r.ID, events[0].ID)
		out = append(out, events...)
	}
	return out
}

func TestTrailRowHoldsTheEventsOfATransaction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dress func(*ipam.Claim, int)
		n     int
		rows  []int // smallest and largest number of rows
	}{
		"One":            {bare, 1, []int{1, 1}},
		"Group":          {bare, 16, []int{1, 1}},
		"GroupLabelled":  {labelled, 16, []int{1, 1}},
		"Batch":          {bare, 1000, []int{15, 30}},
		"BatchLabelled":  {labelled, 1000, []int{25, 50}},
		"Incompressible": {incompressible, 90, []int{30, 90}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := claimEvents(t, c.n, c.dress)
			packed := rows.PackEvents(events)
			require.GreaterOrEqual(t, len(packed), c.rows[0])
			require.LessOrEqual(t, len(packed), c.rows[1])
			require.Equal(t, events, unpacked(t, packed))
			for _, r := range packed {
				require.True(t, len(r.Events) <= 1900 || r.Count == 1, "%d events in %d bytes", r.Count, len(r.Events))
			}
		})
	}
}

// Events share a row only if they have the same project, the same time and consecutive ids.
func TestEventsRoundTrip(t *testing.T) {
	t.Parallel()
	projects, times := []ipam.ID{{1}, {2}}, []time.Time{at, at.Add(time.Microsecond), at.Add(-time.Hour)}
	word := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.Just("0190163d-8694-739b-aea5-966c26f8ad91"), rapid.StringN(100, 9000, 20000))
	document := rapid.Map(word, func(s string) json.RawMessage {
		if s == "" {
			return nil
		}
		return json.RawMessage(s)
	})
	rapid.Check(t, func(t *rapid.T) {
		want := map[ipam.ID]ipam.Event{}
		first := ipam.NewTimeID(at)
		var events []ipam.Event
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			e := ipam.Event{
				ID: first.Numbered(at, rapid.Uint16Range(65_500, 65_535).Draw(t, "number")), At: rapid.SampledFrom(times).Draw(t, "at"),
				ProjectID: rapid.SampledFrom(projects).Draw(t, "project"), Subject: word.Draw(t, "subject"), Method: word.Draw(t, "method"),
				Remote: word.Draw(t, "remote"), RequestID: word.Draw(t, "request"), Operation: word.Draw(t, "operation"), Kind: word.Draw(t, "kind"),
				Name: word.Draw(t, "name"), Outcome: word.Draw(t, "outcome"), Before: document.Draw(t, "before"), After: document.Draw(t, "after"),
			}
			if _, twice := want[e.ID]; twice {
				continue
			}
			want[e.ID], events = e, append(events, e)
		}
		got := unpacked(t, rows.PackEvents(events))
		require.Len(t, got, len(want))
		for _, e := range got {
			require.Equal(t, want[e.ID], e)
		}
	})
}

func FuzzAnyBytesAreEventsOrAnError(f *testing.F) {
	for _, r := range rows.PackEvents(claimEvents(f, 3, labelled)) {
		f.Add(r.Events, r.Count)
	}
	f.Add([]byte{}, int16(0))
	f.Add([]byte{1, 0}, int16(-1))
	f.Add([]byte(strings.Repeat("\x01", 40)), int16(1))
	f.Fuzz(func(t *testing.T, text []byte, n int16) {
		events, err := rows.EventRow{ID: ipam.NewTimeID(at), Count: n, Events: text}.Unpack()
		if err == nil {
			require.Len(t, events, int(n))
			require.Equal(t, events, unpacked(t, rows.PackEvents(events)))
		}
	})
}

// BenchmarkEvents measures the number of bytes in a row for each event, and the CPU time.
func BenchmarkEvents(b *testing.B) {
	for name, dress := range map[string]func(*ipam.Claim, int){"bare": bare, "labelled": labelled} {
		for _, n := range []int{1, 16, 1000} {
			events := claimEvents(b, n, dress)
			packed := rows.PackEvents(events)
			size := 0
			for _, r := range packed {
				size += len(r.Events)
			}
			each := func(b *testing.B, f func()) {
				b.Helper()
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(size)/float64(n), "B/event")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
			}
			b.Run(fmt.Sprintf("%s/%d/pack", name, n), func(b *testing.B) { each(b, func() { rows.PackEvents(events) }) })
			b.Run(fmt.Sprintf("%s/%d/unpack", name, n), func(b *testing.B) { each(b, func() { unpacked(b, packed) }) })
		}
	}
}
