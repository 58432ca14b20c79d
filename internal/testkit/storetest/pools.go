package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var pools = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		byLength := s.child(w.v4, w.space, "by-length", "10.0.0.128/26", false)
		byBlock := s.child(w.v6, w.space, "by-block", "2001:db8:8000::/33", true)
		plain := s.child(w.v4, w.space, "plain", "10.0.0.192/26", false)
		plain.Spec.Allocation = ipam.Allocating{Strategy: ipam.FirstFit}
		plain.Spec.Reservations, plain.Labels, plain.Annotations = nil, nil, nil
		class, second := s.class(w.project, "fast"), s.class(w.project, "slow")
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &class}})
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &second}})
		backing := s.backing(s.root(w.space, "backing", "10.7.0.0/24"), second, class)
		backing.Spec.ReuseAfter, backing.Spec.Drain = new(90*time.Second), ipam.DrainDelete
		scoped := s.scoped(backing, w.space, class, w.project, map[string]string{"zone": "a"}, "10.7.0.0/26")
		scoped.EmptySince = born.Add(time.Minute)
		wide := s.root(w.space, "wide", "10.8.0.0/24")
		wide.Spec.Regions = []string{s.Region, "another"}
		samples := []ipam.Pool{w.v4, w.v6, byLength, byBlock, plain, backing, scoped, wide}
		// The counts come from the free list, from the holds that cool down, and from the loans.
		everyFieldHasAValue(s, samples, ".Stock", ".Stock.Free", ".Stock.Cooling", ".Regional")
		for _, p := range samples[2:] {
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		for _, p := range samples {
			reads(s, p)(s.Store.PoolGet(s.ctx, w.key, p.Name))
			reads(s, p)(s.Store.PoolGetByID(s.ctx, p.UID))
		}
	},
	"EveryStrategyAndVisibilityCanBeStored": func(s *suite) {
		w := s.world()
		p := w.v4
		for _, visibility := range []ipam.Visibility{ipam.VisibilityPlatform, ipam.VisibilityConsumer, ipam.VisibilityShared} {
			for _, strategy := range []ipam.Strategy{ipam.FirstFit, ipam.BestFit, ipam.Random, ipam.Sparse} {
				now := p
				now.Revision = ipam.NewID()
				now.Spec.Visibility, now.Spec.Allocation.Strategy = visibility, strategy
				s.write(storage.Changes{PoolUpdate: &storage.PoolUpdate{Was: p.Revision, Now: now}})
				p = now
				reads(s, p)(s.Store.PoolGetByID(s.ctx, p.UID))
			}
		}
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		w := s.world()
		now := w.v4
		now.Metadata = updated(now.Metadata)
		now.Spec.Visibility, now.Spec.Description = ipam.VisibilityPlatform, ""
		now.Spec.Allocation = ipam.Allocating{Strategy: ipam.Random, MaxPrefixLength: new(30)}
		now.Spec.Reservations = nil
		now.Spec.Drain = ipam.DrainKeep
		now.Spec.ReuseAfter, now.Spec.Regions = new(time.Duration(0)), []string{s.Region}
		s.write(storage.Changes{PoolUpdate: &storage.PoolUpdate{Was: w.v4.Revision, Now: now}})
		reads(s, now)(s.Store.PoolGet(s.ctx, w.key, w.v4.Name))
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		p, other := s.project("blue"), s.project("red")
		sp, otherSpace := s.space(p, "default"), s.space(other, "default")
		s.write(storage.Changes{ProjectInsert: &p, SpaceInsert: []ipam.Space{sp}})
		s.write(storage.Changes{ProjectInsert: &other, SpaceInsert: []ipam.Space{otherSpace}})
		for i, name := range names {
			mine, theirs := s.root(sp, name, nth("10.0.0.0/16", 24, uint64(i))), s.root(otherSpace, name+"x", nth("10.0.0.0/16", 24, uint64(i)))
			s.write(storage.Changes{PoolInsert: []ipam.Pool{mine}})
			s.write(storage.Changes{PoolInsert: []ipam.Pool{theirs}})
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Pool, error) {
			return s.Store.PoolList(s.ctx, storage.Key(p), after, limit)
		}, func(p ipam.Pool) string { return p.Name }, names)
	},
	"ListByLabelsRequiresAllLabels": func(s *suite) {
		w := s.world()
		for i, labels := range []map[string]string{
			{"site": "a", "tier": "1"}, {"site": "a", "tier": "2"}, {"site": "b", "tier": "1"}, {"site": "a"}, nil, {"tier": "site"},
		} {
			p := s.root(w.space, "l"+string(rune('0'+i)), nth("10.1.0.0/16", 24, uint64(i)))
			p.Labels = labels
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		other := s.project("red")
		otherSpace := s.space(other, "default")
		theirs := s.root(otherSpace, "theirs", "10.1.0.0/24")
		theirs.Labels = map[string]string{"site": "a", "tier": "1"}
		s.write(storage.Changes{ProjectInsert: &other, SpaceInsert: []ipam.Space{otherSpace}})
		s.write(storage.Changes{PoolInsert: []ipam.Pool{theirs}})
		for _, c := range []struct {
			labels map[string]string
			limit  int
			want   []string
		}{
			{map[string]string{"site": "a"}, 10, []string{"l0", "l1", "l3"}},
			{map[string]string{"site": "a", "tier": "1"}, 10, []string{"l0"}},
			{map[string]string{"site": "a"}, 2, []string{"l0", "l1"}},
			{map[string]string{"site": "c"}, 10, nil},
			{map[string]string{"site": ""}, 10, nil},
			{map[string]string{"empty": ""}, 10, []string{"four", "six"}},
			{nil, 3, []string{"four", "l0", "l1"}},
		} {
			found, err := s.Store.PoolListByLabels(s.ctx, w.key, c.labels, "", c.limit)
			require.NoError(s, err)
			require.Equal(s, c.want, poolNames(found), "%v", c.labels)
		}
		rest, err := s.Store.PoolListByLabels(s.ctx, w.key, map[string]string{"site": "a"}, "l0", 10)
		require.NoError(s, err)
		require.Equal(s, []string{"l1", "l3"}, poolNames(rest))
	},
	"ListOverlappingFindsInnerAndOuterBlocks": func(s *suite) {
		w := s.world()
		c := w.v4.ContainerID
		for name, block := range map[string]string{"a": "10.1.0.0/16", "b": "10.2.0.0/24", "c": "10.2.1.0/24", "d": "10.2.255.0/24", "e": "10.3.0.0/16"} {
			p := s.root(w.space, name, block)
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		for _, q := range []struct {
			block string
			limit int
			want  []string
		}{
			{"10.2.0.0/16", 10, []string{"b", "c", "d"}},
			{"10.2.0.0/16", 2, []string{"b", "c"}},
			{"10.2.0.0/15", 10, []string{"b", "c", "d", "e"}},
			{"10.1.2.0/24", 10, []string{"a"}},
			{"10.1.0.0/16", 10, []string{"a"}},
			{"10.1.0.0/17", 10, []string{"a"}},
			{"10.2.1.7/32", 10, []string{"c"}},
			{"10.2.2.0/24", 10, nil},
			{"10.4.0.0/16", 10, nil},
			{"10.0.0.0/8", 10, []string{"four", "a", "b", "c", "d", "e"}},
			{"0.0.0.0/0", 1, []string{"four"}},
			{"11.0.0.0/8", 10, nil},
			{"9.0.0.0/8", 10, nil},
		} {
			found, err := s.Store.PoolListOverlapping(s.ctx, c, cidr(q.block), q.limit)
			require.NoError(s, err)
			require.Equal(s, q.want, poolNames(found), "%s", q.block)
		}
		found, err := s.Store.PoolListOverlapping(s.ctx, w.v6.ContainerID, cidr("2001:db8:1::/48"), 10)
		require.NoError(s, err)
		require.Equal(s, []string{"six"}, poolNames(found))
		found, err = s.Store.PoolListOverlapping(s.ctx, ipam.NewID(), cidr("0.0.0.0/0"), 10)
		require.NoError(s, err)
		require.Empty(s, found)
	},
	"TransactionReadsTheSameRows": func(s *suite) {
		w := s.world()
		require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			p, err := tx.PoolGet(ctx, w.key, "four")
			require.NoError(s, err)
			require.Equal(s, w.v4, p)
			all, err := tx.PoolList(ctx, w.key, "", 10)
			require.Equal(s, []ipam.Pool{w.v4, w.v6}, all)
			return err
		}))
	},
}

func poolNames(list []ipam.Pool) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}
