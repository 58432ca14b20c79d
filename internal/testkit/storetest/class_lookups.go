package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// classLookups contains the tests that check which class a name selects in a project, and which pools list the class.
var classLookups = map[string]func(*suite){
	"ListIsOwnThenSharedPlatformClassesByName": func(s *suite) {
		m := s.market()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other})
		theirs, twin := s.class(other, "theirs"), s.class(m.project, "fast")
		s.insertClasses(theirs, twin)
		for _, c := range []struct {
			who  storage.ProjectKey
			want []string
		}{
			{m.key, []string{"blue/fast", "platform/fast", "blue/own"}},
			{storage.Key(other), []string{"platform/fast", "red/theirs"}},
			{storage.Key(m.platform), []string{"platform/fast", "platform/hidden"}},
			{storage.ProjectKey{ID: ipam.NewID(), Name: "blue"}, []string{"platform/fast"}},
		} {
			all, err := s.Store.ClassList(s.ctx, c.who)
			require.NoError(s, err)
			require.Equal(s, c.want, classNames(all), c.who.Name)
		}
	},
	"NamesResolveToOwnThenSharedPlatformClasses": func(s *suite) {
		m := s.market()
		ask := func(who storage.ProjectKey, names ...string) []string {
			found, err := s.Store.ClassesNamed(s.ctx, who, names)
			require.NoError(s, err)
			return classNames(found)
		}
		require.Equal(s, []string{"platform/fast", "blue/own"}, ask(m.key, "own", "fast", "hidden", "none"))
		require.Equal(s, []string{"platform/hidden"}, ask(storage.Key(m.platform), "own", "hidden"))
		require.Empty(s, ask(m.key))
		s.insertClasses(s.class(m.project, "fast"))
		require.Equal(s, []string{"blue/fast"}, ask(m.key, "fast"))
	},
	"PoolsOfTheClassAndCallerProjectsAreByName": func(s *suite) {
		m := s.market()
		other := s.project("red")
		theirSpace := s.space(other, "default")
		s.write(storage.Changes{ProjectInsert: &other, SpaceInsert: []ipam.Space{theirSpace}})
		pool := func(sp ipam.Space, name, block string, classes ...ipam.Class) ipam.Pool {
			p := s.backing(s.root(sp, name, block), classes...)
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
			return p
		}
		c, a := pool(m.platformSpace, "c", "10.1.0.0/24", m.shared), pool(m.platformSpace, "a", "10.2.0.0/24", m.hidden, m.shared)
		pool(m.platformSpace, "b", "10.3.0.0/24", m.hidden)
		pool(theirSpace, "a", "10.1.0.0/24", m.shared)
		mine, sameName := pool(m.space, "b", "10.1.0.0/24", m.shared, m.owned), pool(m.space, "a", "10.2.0.0/24", m.shared)
		for name, q := range map[string]struct {
			class  ipam.Class
			caller ipam.Project
			want   []ipam.Pool
		}{
			"its own and the platform's": {m.shared, m.project, []ipam.Pool{sameName, a, mine, c}},
			"of the platform itself":     {m.shared, m.platform, []ipam.Pool{a, c}},
			"of its own class":           {m.owned, m.project, []ipam.Pool{mine}},
		} {
			got, err := s.Store.ClassPools(s.ctx, q.class, q.caller.UID)
			require.NoError(s, err)
			for i := range q.want {
				q.want[i] = slim(q.want[i])
			}
			require.Equal(s, q.want, got, name)
			facts, err := s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{Project: storage.Key(q.caller), Name: "none", Class: &storage.ClassQuery{Name: q.class.Name, Family: ipam.IPv6}, Now: born})
			require.NoError(s, err)
			facts.Class.Epochs = storage.ClassEpochs{} // tested below
			require.Equal(s, storage.ClaimFacts{Class: storage.ClassFacts{Found: &q.class, Pools: q.want}}, facts, name)
		}
		use, err := s.Store.ClassUse(s.ctx, m.shared.UID)
		require.NoError(s, err)
		require.Equal(s, storage.ClassUse{Pools: 5}, use)
	},
	"EpochsChangeWithEveryLookupInput": func(s *suite) {
		m := s.market()
		epochs := func(of ipam.Project) storage.ClassEpochs {
			facts, err := s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{Project: storage.Key(of), Name: "none", Class: &storage.ClassQuery{Name: "fast", Known: true}, Now: born})
			require.NoError(s, err)
			require.Nil(s, facts.Class.Found, "epochs alone")
			return facts.Class.Epochs
		}
		p, plain := s.backing(s.root(m.space, "p", "10.1.0.0/24"), m.shared), s.root(m.space, "q", "10.2.0.0/24")
		own := s.class(m.project, "another")
		for _, c := range []struct {
			what     string
			change   storage.Changes
			own, far bool
		}{
			{"a class is made", storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &own}}, true, false},
			{"a pool that lists one", storage.Changes{PoolInsert: []ipam.Pool{p}}, true, false},
			{"a pool that lists none", storage.Changes{PoolInsert: []ipam.Pool{plain}}, false, false},
			{"a class of the platform changes", storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: m.shared.Revision, Now: m.shared}}}}, false, true},
			{"a pool changes", storage.Changes{PoolUpdate: &storage.PoolUpdate{Was: p.Revision, Now: p}}, true, false},
			{"a class goes", storage.Changes{ClassChanges: storage.ClassChanges{ClassDelete: &own}}, true, false},
		} {
			before := epochs(m.project)
			s.write(c.change)
			after := epochs(m.project)
			require.Equal(s, []bool{c.own, c.far}, []bool{before.Own != after.Own, before.Platform != after.Platform}, c.what)
			platform := epochs(m.platform)
			require.Equal(s, after.Platform, platform.Platform, c.what)
			require.Equal(s, platform.Own, platform.Platform, "to the platform both are its own")
		}
	},
	"PoolsFollowTheClassesListedByPools": func(s *suite) {
		m := s.market()
		p := s.backing(s.root(m.space, "p", "10.1.0.0/24"), m.shared, m.owned)
		s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		behind := func() (names [][]string) {
			for _, c := range []ipam.Class{m.shared, m.owned} {
				got, err := s.Store.ClassPools(s.ctx, c, m.project.UID)
				require.NoError(s, err)
				names = append(names, poolNames(got))
			}
			return names
		}
		require.Equal(s, [][]string{{"p"}, {"p"}}, behind())
		now := s.backing(p, m.owned)
		now.Revision = ipam.NewID()
		s.write(storage.Changes{PoolUpdate: &storage.PoolUpdate{Was: p.Revision, Now: now}})
		require.Equal(s, [][]string{nil, {"p"}}, behind())
		reads(s, now)(s.Store.PoolGet(s.ctx, m.key, "p"))
		s.write(storage.Changes{PoolDelete: &now})
		require.Equal(s, [][]string{nil, nil}, behind())
	},
	"LookupFindsOwnClassesAndDefaultsFirst": func(s *suite) {
		m := s.market()
		lookup := func(who storage.ProjectKey, q storage.ClassQuery) string {
			facts, err := s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{Project: who, Name: "none", Class: &q, Now: born})
			require.NoError(s, err)
			require.Empty(s, facts.Class.Pools)
			if facts.Class.Found == nil {
				return ""
			}
			return facts.Class.Found.Ref().String()
		}
		platform := storage.Key(m.platform)
		require.Equal(s, "platform/fast", lookup(m.key, storage.ClassQuery{Name: "fast"}))
		require.Equal(s, "blue/own", lookup(m.key, storage.ClassQuery{Name: "own", Family: ipam.IPv6}), "a name is of any family")
		require.Empty(s, lookup(m.key, storage.ClassQuery{Name: "hidden"}))
		require.Equal(s, "platform/hidden", lookup(platform, storage.ClassQuery{Name: "hidden"}))
		require.Empty(s, lookup(platform, storage.ClassQuery{Name: "own"}))
		require.Empty(s, lookup(m.key, storage.ClassQuery{Family: ipam.IPv4}), "there is no default")
		private, shared, six := s.class(m.platform, "private"), s.class(m.platform, "shared-six"), s.class(m.project, "six")
		private.Spec.Visibility, private.Spec.IsDefault = ipam.VisibilityConsumer, true
		shared.Spec.Family, shared.Spec.IsDefault = ipam.IPv6, true
		s.insertClasses(private, shared)
		require.Empty(s, lookup(m.key, storage.ClassQuery{Family: ipam.IPv4}), "the platform's default is its own alone")
		require.Equal(s, "platform/private", lookup(platform, storage.ClassQuery{Family: ipam.IPv4}))
		require.Equal(s, "platform/shared-six", lookup(m.key, storage.ClassQuery{Family: ipam.IPv6}))
		six.Spec.Family, six.Spec.IsDefault = ipam.IPv6, true
		s.insertClasses(six)
		require.Equal(s, "blue/six", lookup(m.key, storage.ClassQuery{Family: ipam.IPv6}))
		s.write(storage.Changes{PoolInsert: []ipam.Pool{s.backing(s.root(m.platformSpace, "theirs", "10.1.0.0/24"), m.shared)}})
		s.insertClasses(s.class(m.project, "fast"))
		require.Equal(s, "blue/fast", lookup(m.key, storage.ClassQuery{Name: "fast"}), "and no pool of the other class of that name")
		for _, missing := range []error{
			second(s.Store.ClassGet(s.ctx, m.key, "shared-six")), second(s.Store.ClassDefault(s.ctx, m.key, ipam.IPv4)),
		} {
			require.True(s, ipam.IsCode(missing, ipam.CodeNotFound), "%v", missing)
		}
	},
	"LookupOfTheDefaultReturnsItsPools": func(s *suite) {
		m := s.market()
		now := m.shared
		now.Spec.IsDefault, now.Revision = true, ipam.NewID()
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: m.shared.Revision, Now: now}}}})
		theirs, mine := s.backing(s.root(m.platformSpace, "z", "10.1.0.0/24"), now), s.backing(s.root(m.space, "y", "10.1.0.0/24"), now)
		s.write(storage.Changes{PoolInsert: []ipam.Pool{theirs, mine}})
		facts, err := s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{
			Project: m.key, Name: "first", Pool: m.v4.Ref(), Key: "key-1", Now: born, Class: &storage.ClassQuery{Family: ipam.IPv4},
		})
		require.NoError(s, err)
		facts.Class.Epochs = storage.ClassEpochs{}
		require.Equal(s, storage.ClassFacts{Found: &now, Pools: []ipam.Pool{slim(mine), slim(theirs)}}, facts.Class)
		require.Equal(s, &m.claim, facts.Claim, "with all that was asked besides")
		require.Equal(s, &m.v4, facts.Pool)
		require.NotNil(s, facts.StoredResponse)
	},
	"UseCountsPoolsScopesAndClaims": func(s *suite) {
		m := s.market()
		backing := s.backing(s.root(m.space, "backing", "10.7.0.0/24"), m.shared)
		kid := s.scoped(backing, m.space, m.shared, m.project, map[string]string{"zone": "a"}, "10.7.0.0/26")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{backing, kid}})
		served, bare := s.claim(m.project, kid, "served", "10.7.0.0/32"), s.claim(m.project, m.v4, "bare", "10.0.0.200/32")
		served.Class = m.shared.AsRef()
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{served, bare}})
		for class, want := range map[ipam.ID]storage.ClassUse{m.shared.UID: {Pools: 1, Scoped: 1, Claims: 1}, m.owned.UID: {}, ipam.NewID(): {}} {
			use, err := s.Store.ClassUse(s.ctx, class)
			require.NoError(s, err)
			require.Equal(s, want, use)
		}
	},
}

func second(_ any, err error) error { return err }

// slim returns a pool in the form that look-ups of a class return: without reservations, labels and texts.
func slim(p ipam.Pool) ipam.Pool {
	p.Labels, p.Annotations, p.Spec.Reservations, p.Spec.Description = nil, nil, nil, ""
	return p
}
