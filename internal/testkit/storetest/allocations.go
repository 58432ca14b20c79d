package storetest

import (
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var allocations = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		reservation := s.holds(w.c4, "10.0.0.128/30", ipam.PurposeReservation, ipam.Ref{})
		reservation.HolderProjectID, reservation.Reason = ipam.ID{}, "gateway é"
		childPool := s.holds(w.c6, "2001:db8::/48", ipam.PurposeChildPool, ipam.Ref{Project: "blue", Name: "kid"})
		retained := s.held(s.claim(w.project, w.v6, "gone", "2001:db8:1::/64"))
		retained.Phase, retained.ReclaimPolicy, retained.OwnerRef = ipam.PhaseRetained, ipam.ReclaimRetain, nil
		cooling := s.held(s.claim(w.project, w.v6, "cold", "2001:db8:2::/64"))
		cooling.Phase, cooling.CoolUntil = ipam.PhaseCoolingDown, born.Add(72*time.Hour)
		cooling.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "blue", Name: "fast"}}
		more := []ipam.Allocation{reservation, childPool, retained, cooling}
		s.write(storage.Changes{AllocationInsert: more})
		claimed := s.claim(w.project, w.v4, "again", "10.0.0.200/32")
		claimed.Allocated = ipam.Allocated{Revision: ipam.NewID(), UpdatedAt: born.Add(time.Minute), CreatedAt: born.Add(-time.Hour), CreatedBy: "maker"}
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{claimed}})
		samples := append([]ipam.Allocation{w.held, claimed.Allocation()}, more...)
		everyFieldHasAValue(s, samples)
		for _, a := range samples {
			got, err := s.Store.AllocationGet(s.ctx, w.key, a.ID)
			require.NoError(s, err)
			require.Equal(s, a, got)
		}
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		w := s.worldWithKept()
		now := w.kept
		now.Phase, now.Holder.Name, now.ReclaimPolicy, now.CoolUntil = ipam.PhaseCoolingDown, "second", ipam.ReclaimDelete, born.Add(time.Hour)
		now.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "blue", Name: "fast"}}
		now.OwnerRef, now.Since, now.Revision, now.UpdatedAt = nil, born.Add(2*time.Hour), ipam.NewID(), born.Add(3*time.Hour)
		s.write(storage.Changes{AllocationUpdate: &storage.AllocationUpdate{Was: w.kept.Revision, Now: now}})
		got, err := s.Store.AllocationGet(s.ctx, w.key, now.ID)
		require.NoError(s, err)
		require.Equal(s, now, got)
	},
	"RootPoolHoldsAreNotListed": func(s *suite) {
		w := s.world()
		c := storage.SpaceContainer(w.space, ipam.IPv4)
		hold := s.holds(c, "10.0.0.0/24", ipam.PurposeRootPool, w.v4.Ref())
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{hold}})
		_, err := s.Store.AllocationGet(s.ctx, w.key, hold.ID)
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		all, err := s.Store.AllocationList(s.ctx, w.key, storage.AllocationCursor{}, 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Allocation{w.held}, all)
		held, err := s.Store.AllocationListInPool(s.ctx, c, c.Block, netip.Addr{}, 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Allocation{hold}, held, "but the space knows what it gave")
	},
	"ListOfAProjectIsByContainerThenAddressInPages": func(s *suite) {
		w := s.world()
		w.c4.ID, w.c6.ID = ipam.ID{1}, ipam.ID{2} // fixed ids, so that the test can state the order
		foreign := s.holds(w.c4, "10.9.0.0/24", ipam.PurposeReservation, ipam.Ref{})
		foreign.ProjectID = ipam.NewID()
		want := []storage.AllocationCursor{}
		list := []ipam.Allocation{foreign}
		for _, block := range []string{"10.0.0.0/30", "10.0.0.128/25", "10.0.1.0/24", "128.0.0.0/8"} {
			list = append(list, s.holds(w.c4, block, ipam.PurposeReservation, ipam.Ref{}))
			want = append(want, storage.AllocationCursor{ContainerID: w.c4.ID, Base: cidr(block).Addr()})
		}
		for _, block := range []string{"2001:db8::/64", "2001:db8::1:0:0:0/64", "fc00::/7"} {
			list = append(list, s.holds(w.c6, block, ipam.PurposeReservation, ipam.Ref{}))
			want = append(want, storage.AllocationCursor{ContainerID: w.c6.ID, Base: cidr(block).Addr()})
		}
		s.write(storage.Changes{ClaimDelete: []ipam.Claim{w.claim}, AllocationInsert: list})
		inPages(s, storage.AllocationCursor{}, func(after storage.AllocationCursor, limit int) ([]ipam.Allocation, error) {
			return s.Store.AllocationList(s.ctx, w.key, after, limit)
		}, func(a ipam.Allocation) storage.AllocationCursor {
			return storage.AllocationCursor{ContainerID: a.ContainerID, Base: a.Block.Addr()}
		}, want)
	},
	"ListInPoolIsByAddressInPages": func(s *suite) {
		w := s.world()
		for _, f := range []struct {
			c      storage.Container
			blocks []string
		}{
			{w.c4, []string{"10.0.0.0/25", "10.0.0.128/32", "10.0.0.130/31", "10.0.0.254/32"}},
			{w.c6, []string{"2001:db8::/64", "2001:db8:0:1::/64", "2001:db8:8000::/33"}},
		} {
			var list []ipam.Allocation
			var want []netip.Addr
			for _, b := range f.blocks {
				want = append(want, cidr(b).Addr())
				if b != w.claim.Block.String() {
					list = append(list, s.holds(f.c, b, ipam.PurposeReservation, ipam.Ref{}))
				}
			}
			s.write(storage.Changes{AllocationInsert: list})
			inPages(s, netip.Addr{}, func(after netip.Addr, limit int) ([]ipam.Allocation, error) {
				return s.Store.AllocationListInPool(s.ctx, f.c, f.c.Block, after, limit)
			}, func(a ipam.Allocation) netip.Addr { return a.Block.Addr() }, want)
		}
	},
	"ListInPoolContainsBlocksThatBeginWithin": func(s *suite) {
		w := s.world()
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{
			s.holds(w.c4, "10.0.0.128/26", ipam.PurposeReservation, ipam.Ref{}), s.holds(w.c4, "10.0.0.192/32", ipam.PurposeReservation, ipam.Ref{}),
		}})
		for within, want := range map[string][]string{
			"10.0.0.0/24":   {"10.0.0.0/25", "10.0.0.128/26", "10.0.0.192/32"},
			"10.0.0.128/25": {"10.0.0.128/26", "10.0.0.192/32"},
			"10.0.0.0/32":   {"10.0.0.0/25"},
			"10.0.0.1/32":   nil,
			"10.0.0.192/32": {"10.0.0.192/32"},
			"10.0.0.193/32": nil,
		} {
			found, err := s.Store.AllocationListInPool(s.ctx, w.c4, cidr(within), netip.Addr{}, 10)
			require.NoError(s, err)
			var got []string
			for _, a := range found {
				got = append(got, a.Block.String())
			}
			require.Equal(s, want, got, within)
		}
	},
	"RetainedBlocksOfAHolderAreListedInAllPools": func(s *suite) {
		w := s.world()
		red := s.project("red")
		theirs := w.v4
		theirs.ProjectID, theirs.Project, theirs.UID = ipam.ID{1}, "green", ipam.ID{9}
		own := w.v4
		own.ProjectID, own.UID = ipam.ID{2}, ipam.ID{3}
		kept := func(p ipam.Project, pool ipam.Pool, name, block string) ipam.Allocation {
			a := s.held(s.claim(p, pool, name, block))
			a.Phase = ipam.PhaseRetained
			return a
		}
		list := []ipam.Allocation{
			kept(w.project, theirs, "a", "10.0.0.4/30"), kept(w.project, theirs, "b", "10.0.0.64/26"), kept(w.project, own, "c", "10.0.0.0/30"),
			kept(w.project, own, "d", "10.0.0.200/32"),
		}
		var want []storage.RetainedCursor
		place := func(a ipam.Allocation) storage.RetainedCursor {
			return storage.RetainedCursor{ProjectID: a.ProjectID, ContainerID: a.ContainerID, Base: a.Block.Addr()}
		}
		for _, a := range list {
			want = append(want, place(a))
		}
		s.write(storage.Changes{AllocationInsert: append([]ipam.Allocation{
			kept(red, theirs, "of-red", "10.0.0.8/30"), kept(red, own, "of-red-too", "10.0.0.8/30"),
		}, list...), ClaimInsert: []ipam.Claim{s.claim(w.project, own, "bound", "10.0.0.16/30")}})
		inPages(s, storage.RetainedCursor{}, func(after storage.RetainedCursor, limit int) ([]ipam.Allocation, error) {
			return s.Store.AllocationListRetained(s.ctx, w.key, after, limit)
		}, place, want)
		got, err := s.Store.AllocationListRetained(s.ctx, w.key, storage.RetainedCursor{}, 10)
		require.NoError(s, err)
		require.Equal(s, list, got, "with every field")
	},
	"HeldCountSeparatesPurposes": func(s *suite) {
		w := s.world()
		retained := s.held(s.claim(w.project, w.v4, "gone", "10.0.0.128/32"))
		retained.Phase = ipam.PhaseRetained
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{s.claim(w.project, w.v4, "b", "10.0.0.129/32")}, AllocationInsert: []ipam.Allocation{
			retained,
			s.holds(w.c4, "10.0.0.130/32", ipam.PurposeReservation, ipam.Ref{}),
			s.holds(w.c4, "10.0.0.132/30", ipam.PurposeChildPool, ipam.Ref{}), s.holds(w.c4, "10.0.0.136/30", ipam.PurposeChildPool, ipam.Ref{}),
			s.holds(w.c4, "10.0.0.140/30", ipam.PurposeChildPool, ipam.Ref{}),
			s.holds(w.c6, "2001:db8::/64", ipam.PurposeReservation, ipam.Ref{}),
			s.holds(storage.SpaceContainer(w.space, ipam.IPv4), "10.0.0.0/24", ipam.PurposeRootPool, w.v4.Ref()),
		}})
		for _, q := range []struct {
			c    storage.Container
			want storage.Held
		}{
			{w.c4, storage.Held{Claims: 2, Retained: 1, ChildPools: 3, Reservations: 1}},
			{w.c6, storage.Held{Reservations: 1}},
			{storage.SpaceContainer(w.space, ipam.IPv4), storage.Held{RootPools: 1}},
			{storage.SpaceContainer(w.space, ipam.IPv6), storage.Held{}},
		} {
			got, err := s.Store.HeldCount(s.ctx, q.c)
			require.NoError(s, err)
			require.Equal(s, q.want, got)
		}
	},
}
