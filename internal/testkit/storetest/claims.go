package storetest

import (
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var claims = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		bySelector := s.claim(w.project, w.v6, "by-selector", "2001:db8::/64")
		bySelector.ReclaimPolicy = ipam.ReclaimDelete
		bySelector.Spec = ipam.ClaimSpec{
			PoolSelector: &ipam.Selector{
				MatchLabels:      map[string]string{"site": "a"},
				MatchExpressions: []ipam.Requirement{{Key: "tier", Operator: ipam.OpNotIn, Values: []string{"1", "2"}}, {Key: "old", Operator: ipam.OpDoesNotExist}},
			},
			ReclaimPolicy: ipam.ReclaimDelete,
		}
		byAddress := s.claim(w.project, w.v4, "by-address", "10.0.0.200/32")
		byAddress.Spec = ipam.ClaimSpec{PoolRef: w.v4.Ref(), Address: netip.MustParseAddr("10.0.0.200"), ReclaimPolicy: ipam.ReclaimDelete}
		byAddress.ReclaimPolicy = ipam.ReclaimDelete
		class := s.class(w.project, "fast")
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &class}})
		byClass := s.claim(w.project, w.v4, "by-class", "10.0.0.202/32")
		byClass.Spec = ipam.ClaimSpec{ClassName: "fast", Scope: map[string]string{"zone": "a", "empty": ""}}
		byClass.Class, byClass.ReuseAfter = class.AsRef(), 72*time.Hour
		again := s.claim(w.project, w.v4, "again", "10.0.0.201/32")
		again.Spec = ipam.ClaimSpec{AllocationRef: again.AllocationID.String(), AllocationOf: "blue", ReclaimPolicy: ipam.ReclaimRetain}
		again.Spec.MaxConsumers, again.Spec.WhenUnused, again.Consumers = 3, ipam.UnusedDelete, 2
		again.Labels, again.Annotations = nil, nil
		again.Allocated = ipam.Allocated{Revision: ipam.NewID(), UpdatedAt: born.Add(time.Minute), CreatedAt: born.Add(-time.Hour), CreatedBy: "maker"}
		again.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "blue", Name: "deleted-meanwhile"}}
		more := []ipam.Claim{bySelector, byAddress, byClass, again}
		s.write(storage.Changes{ClaimInsert: more})
		samples := append([]ipam.Claim{w.claim}, more...)
		everyFieldHasAValue(s, samples)
		for _, c := range samples {
			reads(s, c)(s.Store.ClaimGet(s.ctx, w.key, c.Name))
		}
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		w := s.world()
		now := w.claim
		now.Metadata = updated(now.Metadata)
		now.Spec.ReclaimPolicy, now.Spec.OwnerRef, now.ReclaimPolicy = ipam.ReclaimDelete, nil, ipam.ReclaimDelete
		s.write(storage.Changes{ClaimUpdate: &storage.ClaimUpdate{Was: w.claim.Revision, Now: now}})
		reads(s, now)(s.Store.ClaimGet(s.ctx, w.key, now.Name))
	},
	"DeleteRemovesNamedClaims": func(s *suite) {
		w := s.world()
		b, c := s.claim(w.project, w.v4, "b", "10.0.0.200/32"), s.claim(w.project, w.v4, "c", "10.0.0.201/32")
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{b, c}})
		s.write(storage.Changes{ClaimDelete: []ipam.Claim{w.claim, c}})
		all, err := s.Store.ClaimList(s.ctx, w.key, "", 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Claim{b}, all)
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		w := s.world()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other, ClaimDelete: []ipam.Claim{w.claim}})
		var list []ipam.Claim
		for i, name := range names {
			list = append(list, s.claim(w.project, w.v4, name, nth("10.0.0.0/25", 32, uint64(i))), s.claim(other, w.v4, name+"x", nth("10.0.0.128/25", 32, uint64(i))))
		}
		s.write(storage.Changes{ClaimInsert: list})
		inPages(s, "", func(after string, limit int) ([]ipam.Claim, error) {
			return s.Store.ClaimList(s.ctx, w.key, after, limit)
		}, func(c ipam.Claim) string { return c.Name }, names)
	},
	"ListOfAnOwnerInAProjectIsByNameInPages": func(s *suite) {
		w := s.world()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other})
		owned := func(p ipam.Project, name, block string, o *ipam.OwnerRef) ipam.Claim {
			c := s.claim(p, w.v4, name, block)
			c.Spec.OwnerRef = o
			return c
		}
		web, later := &ipam.OwnerRef{Kind: "Cluster", Name: "web", UID: "1"}, &ipam.OwnerRef{Kind: "Cluster", Name: "web", UID: "2"}
		moved := owned(w.project, "moved", "10.0.0.136/32", web)
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{
			owned(w.project, "b", "10.0.0.129/32", web), owned(w.project, "a", "10.0.0.130/32", web), owned(w.project, "c", "10.0.0.128/32", web),
			owned(w.project, "later", "10.0.0.131/32", later), owned(w.project, "nobodys", "10.0.0.132/32", nil), owned(other, "theirs", "10.0.0.133/32", web), moved,
		}})
		retained := moved.Allocation()
		retained.Phase, retained.Revision = ipam.PhaseRetained, ipam.NewID()
		s.write(storage.Changes{AllocationUpdate: &storage.AllocationUpdate{Was: moved.Revision, Now: retained}})
		for owner, want := range map[string][]string{"Cluster/web/1": {"a", "b", "c"}, "Cluster/web/2": {"later"}, "Cluster/web": {}} {
			inPages(s, "", func(after string, limit int) ([]ipam.Claim, error) {
				return s.Store.ClaimListOwned(s.ctx, w.key, owner, after, limit)
			}, func(c ipam.Claim) string { return c.Name }, want)
		}
	},
	"ListInPoolOfAProjectIsByAddressInPages": func(s *suite) {
		w := s.world()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other})
		ch := storage.Changes{}
		add := func(p ipam.Project, pool ipam.Pool, name, block string) {
			ch.ClaimInsert = append(ch.ClaimInsert, s.claim(p, pool, name, block))
		}
		add(w.project, w.v4, "z", "10.0.0.128/32")
		add(w.project, w.v4, "y", "10.0.0.129/32")
		add(other, w.v4, "theirs", "10.0.0.130/32")
		add(w.project, w.v4, "x", "10.0.0.192/27")
		add(w.project, w.v6, "six", "2001:db8::/64")
		ch.AllocationInsert = append(ch.AllocationInsert, s.holds(w.c4, "10.0.0.131/32", ipam.PurposeReservation, ipam.Ref{}))
		s.write(ch)
		at := func(c ipam.Claim) netip.Addr { return c.Block.Addr() }
		addrs := func(texts ...string) (out []netip.Addr) {
			for _, text := range texts {
				out = append(out, netip.MustParseAddr(text))
			}
			return out
		}
		for _, q := range []struct {
			key    storage.ProjectKey
			c      storage.Container
			within string
			want   []netip.Addr
		}{
			{w.key, w.c4, "10.0.0.0/24", addrs("10.0.0.0", "10.0.0.128", "10.0.0.129", "10.0.0.192")},
			{w.key, w.c4, "10.0.0.128/26", addrs("10.0.0.128", "10.0.0.129")},
			{w.key, w.c6, "2001:db8::/32", addrs("2001:db8::")},
			{storage.Key(other), w.c4, "10.0.0.0/24", addrs("10.0.0.130")},
		} {
			inPages(s, netip.Addr{}, func(after netip.Addr, limit int) ([]ipam.Claim, error) {
				return s.Store.ClaimListInPool(s.ctx, q.key, q.c, cidr(q.within), after, limit)
			}, at, q.want)
		}
	},
	"LookupReturnsExistingClaimsAndKeys": func(s *suite) {
		w := s.world()
		for _, q := range []struct {
			ask  storage.ClaimQuery
			want storage.ClaimFacts
		}{
			{storage.ClaimQuery{Name: "first", Pool: w.v4.Ref(), Key: "key-1"}, storage.ClaimFacts{Claim: &w.claim, Pool: &w.v4, StoredResponse: &w.storedResponse}},
			{storage.ClaimQuery{Name: "first"}, storage.ClaimFacts{Claim: &w.claim}},
			{storage.ClaimQuery{Name: "none", Pool: w.v6.Ref()}, storage.ClaimFacts{Pool: &w.v6}},
			{storage.ClaimQuery{Name: "none", Key: "key-1"}, storage.ClaimFacts{StoredResponse: &w.storedResponse}},
			{storage.ClaimQuery{Name: "none", Pool: ipam.Ref{Project: "blue", Name: "none"}, Key: "none"}, storage.ClaimFacts{}},
		} {
			q.ask.Project, q.ask.Now = w.key, born
			got, err := s.Store.ClaimLookup(s.ctx, q.ask)
			require.NoError(s, err)
			if got.StoredResponse != nil && q.want.StoredResponse != nil {
				require.Equal(s, stored(*q.want.StoredResponse), *got.StoredResponse)
				got.StoredResponse = q.want.StoredResponse
			}
			require.Equal(s, q.want, got, "%+v", q.ask)
		}
	},
	"LookupIgnoresAnExpiredResponse": func(s *suite) {
		w := s.world()
		reads(s, storage.ClaimFacts{})(s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{Project: w.key, Name: "none", Key: "key-1", Now: w.storedResponse.ExpiresAt}))
	},
}
