package alloc_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// patch sends a PATCH that changes a pool.
func (b *bundle) patch(pool string, r usecase.Request, change func(*ipam.Pool)) (ipam.Pool, error) {
	return b.PatchPool(b.ctx, project, pool, r, func(p ipam.Pool) (ipam.Pool, error) {
		change(&p)
		return p, nil
	})
}

func TestPatchOfAPoolChangesMutableFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("held", "net", 24))
	b.clock.move(time.Minute)
	now, err := b.patch("net", usecase.Request{}, func(p *ipam.Pool) {
		p.Labels = labels("site", "fra")
		p.Annotations = labels("note", "two\nlines")
		p.Spec.Description, p.Spec.Visibility = "the net", ipam.VisibilityShared
		p.Spec.Allocation.Strategy = ipam.FirstFit
		bounds(20, 28)(p)
		byDefault(24)(p)
		reserving(ipam.Reservation{Last: 1})(p)
	})
	require.NoError(t, err)
	read, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, now, read)
	require.NotEqual(t, was.Revision, now.Revision)
	require.Equal(t, was.Generation+1, now.Generation)
	require.Equal(t, was.CreatedAt, now.CreatedAt)
	require.Equal(t, b.clock.read(), now.UpdatedAt)
	require.Equal(t, was.UID, now.UID)
	require.Equal(t, was.Block, now.Block)
	require.Equal(t, "two\nlines", now.Annotations["note"])
	require.Equal(t, 24, b.claim(t, claimOf("by-default", "net")).Block.Bits(), "the new policy is in force")
}

func TestPatchOfLabelsKeepsTheGeneration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.pool(t, root("net", "10.0.0.0/16", labelled("a", "b")))
	now, err := b.patch("net", usecase.Request{}, func(p *ipam.Pool) { p.Labels = nil })
	require.NoError(t, err)
	require.Equal(t, was.Generation, now.Generation)
	require.NotEqual(t, was.Revision, now.Revision)
	require.Nil(t, now.Labels)
}

func TestUnchangedPatchOfAPoolWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.pool(t, root("net", "10.0.0.0/16", labelled("a", "b"), reserving(ipam.Reservation{First: 3, Reason: "x"}), bounds(20, 28)))
	before := b.dump(t)
	b.clock.move(time.Hour)
	for name, change := range map[string]func(*ipam.Pool){
		"Nothing":            func(*ipam.Pool) {},
		"SameValues":         func(p *ipam.Pool) { bounds(20, 28)(p); labelled("a", "b")(p) },
		"EmptyForNil":        func(p *ipam.Pool) { p.Annotations = map[string]string{} },
		"ServerFields":       func(p *ipam.Pool) { p.UID, p.CreatedBy, p.Generation = ipam.NewID(), "me", 99 },
		"SameReservation":    func(p *ipam.Pool) { reserving(ipam.Reservation{First: 3, Reason: "x"})(p) },
		"SamePointersValues": func(p *ipam.Pool) { lo := 20; p.Spec.Allocation.MinPrefixLength = &lo },
	} {
		t.Run(name, func(t *testing.T) {
			now, err := b.patch("net", usecase.Request{}, change)
			require.NoError(t, err)
			require.Equal(t, was, now)
			require.Equal(t, before, b.dump(t))
		})
	}
}

func TestRefusedPatchOfAPoolWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claimOf("held", "net", exactly("10.0.4.0/24")))
	kept := b.claim(t, claimOf("kept", "net", exactly("10.0.8.0/24"), retain))
	b.release(t, "kept")
	before := b.dump(t)
	for _, c := range []struct {
		name    string
		change  func(*ipam.Pool)
		code    ipam.Code
		pointer string
	}{
		{"BadBounds", bounds(8, 24), ipam.CodeInvalidArgument, "/spec/allocation/minPrefixLength"},
		{"BadVisibility", func(p *ipam.Pool) { p.Spec.Visibility = "public" }, ipam.CodeInvalidArgument, "/spec/visibility"},
		{"BadLabel", labelled("a", "not a value"), ipam.CodeInvalidArgument, "/metadata/labels/a"},
		{"BadReservation", reserving(ipam.Reservation{First: 2, Last: 2}), ipam.CodeInvalidArgument, "/spec/reservations/0"},
		{"ReservationOfAHeldBlock", reserving(ipam.Reservation{First: 1}, reserveCIDR("10.0.4.128/25", "")), ipam.CodeBlockTaken, "/spec/reservations/1"},
		{"ReservationOfARetainedBlock", reserving(reserveCIDR(kept.Block.String(), "")), ipam.CodeAllocationRetained, "/spec/reservations/0"},
		{"ReservationAroundAHeldBlock", reserving(reserveRange("10.0.3.255", "10.0.6.0", "")), ipam.CodeBlockTaken, "/spec/reservations/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.patch("net", usecase.Request{}, c.change)
			require.Equal(t, c.pointer, refused(t, err, c.code).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
	t.Run("ByTheCallersCheck", func(t *testing.T) {
		immutable := errors.New("immutable")
		_, err := b.PatchPool(b.ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { return p, immutable })
		require.Error(t, err)
		require.Equal(t, before, b.dump(t))
	})
	_, err := b.patch("none", usecase.Request{}, func(*ipam.Pool) {})
	refused(t, err, ipam.CodeNotFound)
}

func TestPatchReplacesReservations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", reserving(ipam.Reservation{First: 4, Reason: "routers"}, ipam.Reservation{Last: 1})))
	b.claim(t, claimOf("held", "net", exactly("10.0.0.128/26")))
	set := func(t *testing.T, available string, want map[string]string, list ...ipam.Reservation) {
		t.Helper()
		now, err := b.patch("net", usecase.Request{}, reserving(list...))
		require.NoError(t, err)
		require.Equal(t, available, now.Stock.Available(32).String())
		require.Equal(t, available, b.available(t, "net"))
		require.Equal(t, want, b.held(t, "net", ipam.PurposeReservation))
	}
	set(t, "179", map[string]string{"10.0.0.0/30": "routers", "10.0.0.255/32": "", "10.0.0.8/29": "dhcp"},
		ipam.Reservation{First: 4, Reason: "routers"}, ipam.Reservation{Last: 1}, reserveCIDR("10.0.0.8/29", "dhcp"))
	t.Run("ChangedReasonReplacesTheReservation", func(t *testing.T) {
		set(t, "179", map[string]string{"10.0.0.0/30": "gateways", "10.0.0.255/32": "", "10.0.0.8/29": "dhcp"},
			ipam.Reservation{First: 4, Reason: "gateways"}, ipam.Reservation{Last: 1}, reserveCIDR("10.0.0.8/29", "dhcp"))
	})
	t.Run("EquivalentReservationKeepsItsBlocks", func(t *testing.T) {
		before := b.dump(t)["holds"]
		set(t, "179", map[string]string{"10.0.0.0/30": "gateways", "10.0.0.255/32": "", "10.0.0.8/29": "dhcp"},
			reserveRange("10.0.0.0", "10.0.0.3", "gateways"), reserveCIDR("10.0.0.255/32", ""), reserveCIDR("10.0.0.8/29", "dhcp"))
		require.Equal(t, before, b.dump(t)["holds"])
	})
	t.Run("GrowsOverItself", func(t *testing.T) {
		set(t, "175", map[string]string{"10.0.0.0/28": "gateways", "10.0.0.255/32": ""},
			ipam.Reservation{First: 16, Reason: "gateways"}, ipam.Reservation{Last: 1})
	})
	t.Run("ShrinksWithinItself", func(t *testing.T) {
		set(t, "190", map[string]string{"10.0.0.5/32": "gateways", "10.0.0.255/32": ""},
			reserveRange("10.0.0.5", "10.0.0.5", "gateways"), ipam.Reservation{Last: 1})
	})
	t.Run("RemovedOnesAreFreeAgain", func(t *testing.T) {
		set(t, "192", map[string]string{})
		require.Equal(t, []string{"10.0.0.0/25", "10.0.0.192/26"}, b.free(t, "net"), "and merged")
		require.Equal(t, block("10.0.0.0/25"), b.claim(t, claim("all", "net", 25)).Block)
	})
}

// The pool has more held blocks than the maximum of reserved blocks. In address order, they come before the reserved blocks. A read that counted held
// blocks too would not reach the reserved blocks.
func TestReservationAfterManyHeldBlocksCanBeRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/20", strategy(ipam.FirstFit), reserving(ipam.Reservation{Last: 3}, reserveCIDR("10.0.14.0/24", ""))))
	for n := range 3 {
		claims := make([]ipam.Claim, 700)
		for i := range claims {
			claims[i] = claim(fmt.Sprintf("c%d-%d", n, i), "net", 32)
		}
		_, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
		require.NoError(t, err)
	}
	now, err := b.patch("net", usecase.Request{}, reserving(reserveCIDR("10.0.14.0/24", "")))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(4096-2100-256), now.Stock.Available(32).String())
	now, err = b.patch("net", usecase.Request{}, reserving())
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(4096-2100), now.Stock.Available(32).String())
	require.Empty(t, b.held(t, "net", ipam.PurposeReservation))
}
