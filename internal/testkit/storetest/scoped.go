package storetest

import (
	"math/big"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scoped returns a pool carved from another one for one scope of a class.
func (s *suite) scoped(parent ipam.Pool, sp ipam.Space, class ipam.Class, of ipam.Project, values map[string]string, block string) ipam.Pool {
	p := s.child(parent, sp, class.Name+"-"+of.Name, block, false)
	_, key := class.ScopeKey(values)
	if key != "" {
		p.Name += "-" + values["zone"]
	}
	p.Scope = &ipam.PoolScope{Class: class.AsRef(), ProjectID: of.UID, Project: of.Name, Values: values, Key: key}
	return p
}

var scopedPools = map[string]func(*suite){
	"ScopeFindsOnlyItsPool": func(s *suite) {
		m := s.market()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other})
		in := func(class ipam.Class, of ipam.Project, zone, block string) ipam.Pool {
			p := s.scoped(m.v4, m.space, class, of, map[string]string{"zone": zone}, block)
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
			return p
		}
		a, b := in(m.shared, m.project, "a", "10.0.0.128/28"), in(m.shared, m.project, "b", "10.0.0.144/28")
		theirs, third := in(m.shared, other, "a", "10.0.0.160/28"), in(m.owned, m.project, "a", "10.0.0.176/28")
		for _, p := range []ipam.Pool{a, b, theirs, third} {
			reads(s, p)(s.Store.ScopedPool(s.ctx, p.Scope.Class.ID, p.Scope.ProjectID, p.Scope.Key))
		}
		for _, missing := range []error{
			second(s.Store.ScopedPool(s.ctx, m.shared.UID, m.project.UID, "zone=c")),
			second(s.Store.ScopedPool(s.ctx, m.owned.UID, other.UID, "zone=a")),
			second(s.Store.ScopedPool(s.ctx, ipam.NewID(), m.project.UID, "zone=a")),
		} {
			require.True(s, ipam.IsCode(missing, ipam.CodeNotFound), "%v", missing)
		}
		for _, c := range []struct {
			class, project ipam.ID
			want           int64
		}{
			{m.shared.UID, ipam.ID{}, 3}, {m.shared.UID, m.project.UID, 2}, {m.shared.UID, other.UID, 1},
			{m.owned.UID, ipam.ID{}, 1}, {m.owned.UID, other.UID, 0}, {m.hidden.UID, ipam.ID{}, 0},
		} {
			n, err := s.Store.ScopedPoolCount(s.ctx, c.class, c.project)
			require.NoError(s, err)
			require.Equal(s, c.want, n)
		}
	},
	"ListForTheJobIsByIDInPages": func(s *suite) {
		m := s.market()
		stays := m.owned
		stays.Spec.EmptyPoolTTL, stays.Revision = nil, ipam.NewID()
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: m.owned.Revision, Now: stays}}}})
		want := map[ipam.ID]storage.ScopedPool{}
		for i, name := range names {
			class := m.shared
			if i%2 == 0 {
				class = stays
			}
			p := s.scoped(m.v4, m.space, class, m.project, map[string]string{"zone": name}, nth("10.0.0.128/25", 32, uint64(i)))
			entry := storage.ScopedPool{Pool: p, TTL: class.Spec.EmptyPoolTTL, Held: i%3 == 0}
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
			if entry.Held {
				s.write(storage.Changes{ClaimInsert: []ipam.Claim{s.claim(m.project, p, name, p.Block.String())}})
			}
			want[p.UID] = entry
		}
		var last ipam.ID
		found := map[ipam.ID]storage.ScopedPool{}
		for {
			page, err := s.Store.ScopedPoolList(s.ctx, last, 2)
			require.NoError(s, err)
			require.LessOrEqual(s, len(page), 2)
			if len(page) == 0 {
				break
			}
			for _, p := range page {
				require.Less(s, last.String(), p.Pool.UID.String())
				last = p.Pool.UID
				found[last] = p
			}
		}
		require.Equal(s, want, found)
	},
	"MarkIsUpdatedAlone": func(s *suite) {
		m := s.market()
		p := s.scoped(m.v4, m.space, m.shared, m.project, nil, "10.0.0.128/28")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		for _, at := range []time.Time{born, born.Add(time.Minute), {}} {
			s.write(storage.Changes{ClassChanges: storage.ClassChanges{ScopedMarks: []storage.ScopedMark{{PoolID: p.UID, Was: p.EmptySince, Now: at}}}})
			p.EmptySince = at
			reads(s, p)(s.Store.PoolGetByID(s.ctx, p.UID))
		}
	},
	"CountsForTheServedProject": func(s *suite) {
		m := s.market()
		red := s.project("red")
		s.write(storage.Changes{ProjectInsert: &red})
		for i, zone := range []string{"a", "b"} {
			p := s.scoped(m.v4, m.space, m.shared, red, map[string]string{"zone": zone}, nth("10.0.0.128/25", 28, uint64(i)))
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		own := s.scoped(m.v6, m.space, m.owned, m.project, nil, "2001:db8::/40")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{own}})
		c, plain := s.claim(red, m.v4, "served", "10.0.0.200/32"), s.claim(red, m.v4, "plain", "10.0.0.201/32")
		c.Class = m.shared.AsRef()
		kept, cold := s.held(s.claim(red, m.v4, "kept", "10.0.0.202/32")), s.held(s.claim(red, m.v4, "cold", "10.0.0.203/32"))
		kept.Phase, kept.Class = ipam.PhaseRetained, m.shared.AsRef()
		cold.Phase, cold.Class, cold.CoolUntil = ipam.PhaseCoolingDown, m.shared.AsRef(), born
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{c, plain}, AllocationInsert: []ipam.Allocation{kept, cold}})
		n := big.NewInt
		for _, q := range []struct {
			who   ipam.Project
			scope ipam.QuotaScope
			want  ipam.Usage
		}{
			{red, ipam.QuotaScope{}, ipam.Usage{Addresses: n(3), Claims: 2, Pools: 2}},
			{red, ipam.QuotaScope{Class: m.shared.Ref()}, ipam.Usage{Addresses: n(2), Claims: 1, Pools: 2}},
			{red, ipam.QuotaScope{Class: m.shared.Ref(), Pool: m.v4.Ref(), Family: ipam.IPv4}, ipam.Usage{Addresses: n(2), Claims: 1, Pools: 2}},
			{red, ipam.QuotaScope{Class: m.shared.Ref(), Pool: m.v6.Ref()}, ipam.Usage{Addresses: n(0)}},
			{red, ipam.QuotaScope{Class: m.shared.Ref(), Family: ipam.IPv6}, ipam.Usage{Addresses: n(0)}},
			{red, ipam.QuotaScope{Class: ipam.Ref{Project: "red", Name: "fast"}}, ipam.Usage{Addresses: n(0)}},
			{m.project, ipam.QuotaScope{}, ipam.Usage{Addresses: n(128), Claims: 1, Pools: 3}},
			{m.project, ipam.QuotaScope{Class: m.owned.Ref()}, ipam.Usage{Addresses: n(0), Pools: 1}},
			{m.project, ipam.QuotaScope{Class: m.shared.Ref()}, ipam.Usage{Addresses: n(0)}},
		} {
			got, err := s.Store.UsageCount(s.ctx, storage.Key(q.who), q.scope)
			require.NoError(s, err)
			require.Zero(s, q.want.Addresses.Cmp(got.Addresses), "%s of %+v: %s", q.who.Name, q.scope, got.Addresses)
			q.want.Addresses = got.Addresses
			require.Equal(s, q.want, got, "%s of %+v", q.who.Name, q.scope)
		}
	},
}
