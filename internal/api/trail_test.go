package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestListEvents(t *testing.T) {
	t.Parallel()

	t.Run("PassesEveryFilter", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		w := s.server(t).do(t, "GET", events+"?subject=key%3Ateam-a%2Fpipeline&operation=deleteClaim&resourceKind=IPClaim&resourceName=web&outcome=permission_denied"+
			"&since=2026-03-02T02:00:00%2B02:00&until=2026-03-03T00:00:00.5Z&limit=7&cursor=abc", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.True(t, s.filter.Since.Equal(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)))
		require.True(t, s.filter.Until.Equal(time.Date(2026, 3, 3, 0, 0, 0, 5e8, time.UTC)))
		s.filter.Since, s.filter.Until = time.Time{}, time.Time{}
		require.Equal(t, trail.EventFilter{
			Subject: "key:team-a/pipeline", Operation: "deleteClaim", Kind: "IPClaim", Name: "web", Outcome: "permission_denied",
		}, s.filter)
	})

	t.Run("SetsNoFilterByDefault", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		w := s.server(t).do(t, "GET", events, "")
		require.Equal(t, trail.EventFilter{}, s.filter)
		require.JSONEq(t, `{"items": [], "nextCursor": "bmV4dA"}`, w.Body.String())
	})

	t.Run("ShowsAChangeAndARefusal", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		at := time.Date(2026, 3, 2, 9, 30, 0, 123456000, time.UTC)
		made, refused := ipam.NewTimeID(at), ipam.NewTimeID(at)
		s.events = []ipam.Event{{
			ID: made, At: at, Subject: "key:team-a/pipeline", Method: "api-key", Remote: "192.0.2.10", RequestID: "r-1",
			Operation: "createClaim", Kind: "IPClaim", Name: "web", Outcome: "ok", After: json.RawMessage(`{"spec":{"prefixLength":24}}`),
		}, {
			ID: refused, At: at, Subject: "corp:carol@example.com", Method: "oidc", Operation: "createClaim", Kind: "IPClaim",
			Outcome: "permission_denied",
		}}
		w := s.server(t).do(t, "GET", events, "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.JSONEq(t, `{"items": [{
			"id": "`+made.String()+`", "at": "2026-03-02T09:30:00.123456Z", "subject": "key:team-a/pipeline", "method": "api-key",
			"remoteAddress": "192.0.2.10", "requestId": "r-1", "operation": "createClaim", "resource": {"kind": "IPClaim", "name": "web"},
			"outcome": "ok", "before": null, "after": {"spec": {"prefixLength": 24}}
		}, {
			"id": "`+refused.String()+`", "at": "2026-03-02T09:30:00.123456Z", "subject": "corp:carol@example.com", "method": "oidc",
			"remoteAddress": "", "requestId": "", "operation": "createClaim", "resource": {"kind": "IPClaim"},
			"outcome": "permission_denied", "before": null, "after": null
		}], "nextCursor": "bmV4dA"}`, w.Body.String())
	})
}

func TestGetHistory(t *testing.T) {
	t.Parallel()

	t.Run("AtATime", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		w := s.server(t).do(t, "GET", history+"?address=10.1.2.3&at=2026-03-03T14:00:00%2B02:00", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, netip.MustParseAddr("10.1.2.3"), s.address)
		require.Equal(t, time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), s.at)
	})

	t.Run("AllTimes", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		s.server(t).do(t, "GET", history+"?address=2001:db8::1", "")
		require.Equal(t, netip.MustParseAddr("2001:db8::1"), s.address)
		require.Zero(t, s.at)
	})

	t.Run("NamesVisibleHolders", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		since := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
		id := ipam.NewID()
		hold := func(purpose ipam.Purpose, block string, holder ipam.Ref) ipam.Hold {
			return ipam.Hold{
				ID: ipam.NewID(), Project: "team-a", Pool: ipam.Ref{Project: "team-a", Name: "p"}, Block: netip.MustParsePrefix(block),
				Purpose: purpose, Phase: ipam.PhaseBound, AllocationID: id, Holder: holder, Since: since,
			}
		}
		own, foreign := hold(ipam.PurposeClaim, "10.1.2.3/32", ipam.Ref{Project: "team-a", Name: "c"}), hold(ipam.PurposeClaim, "10.1.2.0/24", ipam.Ref{Project: "team-b"})
		own.Phase, own.Until = ipam.PhaseRetained, since.Add(time.Hour)
		s.holds = []ipam.Hold{own, foreign, hold(ipam.PurposeChildPool, "10.1.0.0/16", ipam.Ref{Project: "team-a", Name: "kid"})}

		w := s.server(t).do(t, "GET", history+"?address=10.1.2.3", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		until := since.Add(time.Hour)
		pool := gen.ResolvedRef{Project: "team-a", Name: "p"}
		require.Equal(t, []gen.HistoryEntry{{
			AllocatedCIDR: "10.1.2.3/32", PoolRef: pool, Purpose: "Claim", Phase: "Retained", Consumer: "team-a",
			ClaimRef: &gen.ResolvedRef{Project: "team-a", Name: "c"}, Allocation: id.String(), Since: since, Until: &until,
		}, {
			AllocatedCIDR: "10.1.2.0/24", PoolRef: pool, Purpose: "Claim", Phase: "Bound", Consumer: "team-b", Allocation: id.String(), Since: since,
		}, {
			AllocatedCIDR: "10.1.0.0/16", PoolRef: pool, Purpose: "ChildPool", Phase: "Bound", Consumer: "team-a",
			ChildPoolRef: &gen.ResolvedRef{Project: "team-a", Name: "kid"}, Allocation: id.String(), Since: since,
		}}, decode[gen.HistoryEntryList](t, w).Items)
	})
}
