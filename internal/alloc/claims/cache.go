package claims

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// These limits are in entries. An entry has about 500 bytes.
const (
	maxCachedPools  = 16384
	maxCachedClaims = 16384
)

// conflictAge is the time for which a project's claims skip the cache after a conflict. A conflict means that a claim met a name or key in use. A
// conflict in a transaction makes its whole group of requests retry. So a client that repeats names pays with a look-up, and other clients do not
// wait.
const conflictAge = 10 * time.Second

// Cache is the server's cache of projects, and of the pools that served their claims. No result depends on the cache alone. A request that begins
// with cached facts ends in a transaction. That transaction reads the same facts again, or finds only rows under the cached id. If the facts differ,
// the request begins again with facts from the database. It also begins again before any refusal. So the cache saves round trips and changes no
// result.
type Cache struct {
	sources   *lru.Cache[poolKey, ipam.Pool]
	pools     *lru.Cache[ipam.ID, ipam.Pool]          // pools for released claims
	claims    *lru.Cache[storage.NameRef, ipam.Claim] // claims created by this server
	conflicts *lru.Cache[ipam.ID, time.Time]          // the last conflict's time, by project
}

// poolKey identifies a pool by its name and the project that uses it. The project in the key keeps other projects from learning that the pool exists.
type poolKey struct {
	project ipam.ID
	pool    ipam.Ref
}

// NewCache creates an empty cache.
func NewCache() Cache {
	return Cache{
		sources:   usecase.NewLRU[poolKey, ipam.Pool](maxCachedPools),
		pools:     usecase.NewLRU[ipam.ID, ipam.Pool](maxCachedPools),
		claims:    usecase.NewLRU[storage.NameRef, ipam.Claim](maxCachedClaims),
		conflicts: usecase.NewLRU[ipam.ID, time.Time](usecase.MaxCachedProjects),
	}
}

// putPool caches a pool that a project may use.
func (m Cache) putPool(key storage.ProjectKey, p ipam.Pool) {
	m.sources.Add(poolKey{key.ID, p.Ref()}, slim(p))
}

// maxClaimText limits the texts in a cached claim, in bytes. Claims with longer texts are not cached.
const maxClaimText = 1024

// putClaim caches a claim that this server created, until its release. The release deletes the claim at the cached revision. If the revision has
// changed, the release reads the claim again. putClaim does not cache a claim with consumers. A release refuses such a claim, and only a read may
// decide a refusal.
func (m Cache) putClaim(c ipam.Claim) {
	if c.Consumers == 0 && c.Spec.PoolSelector == nil && textOf(c.Labels)+textOf(c.Annotations)+textOf(c.Spec.Scope) <= maxClaimText {
		m.claims.Add(storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}, c)
	}
}

func textOf(m map[string]string) (n int) {
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

func (m Cache) removeClaim(key storage.ProjectKey, name string) {
	m.claims.Remove(storage.NameRef{ProjectID: key.ID, Name: name})
}

// takeClaim returns a cached claim and removes it. ok is false if the claim is not cached or does not match.
func (m Cache) takeClaim(key storage.ProjectKey, name string, match usecase.Match) (ipam.Claim, bool) {
	ref := storage.NameRef{ProjectID: key.ID, Name: name}
	c, known := m.claims.Peek(ref)
	m.claims.Remove(ref)
	return c, known && match.Check(c.Revision) == nil // a cached fact must not decide a refusal
}

// refresh replaces a pool that the cache already contains. It adds no pool.
func (m Cache) refresh(key storage.ProjectKey, p ipam.Pool) {
	if ask := (poolKey{key.ID, p.Ref()}); m.sources.Contains(ask) {
		m.sources.Add(ask, slim(p))
	}
	if m.pools.Contains(p.UID) {
		m.pools.Add(p.UID, slim(p))
	}
}

// slim drops the fields that may be large and have no effect on claims. It also drops the pool's chosen region, because each claim chooses the region
// itself.
func slim(p ipam.Pool) ipam.Pool {
	p.UsedIn = ""
	p.Labels, p.Annotations, p.Spec.Description, p.Spec.Reservations = nil, nil, "", nil
	return p
}

// fromCache returns the cached facts for a claim. If these facts are enough to begin with, it sets o.cached. The transaction must then find the same
// facts.
func (s *creator) fromCache(o *order) (facts storage.ClaimFacts) {
	since, conflicted := s.cache.conflicts.Peek(o.key.ID)
	spec, known := o.claim.Spec, false
	switch {
	case conflicted && s.Ticks().Sub(since) < conflictAge, spec.AllocationRef != "", spec.PoolSelector != nil:
	case spec.ByClass():
		facts.Class, known = s.classes.Cached(o.key, *resolve.ClassQuery(spec))
		known = known && !facts.Class.Found.Scoped() // a scope's first claim carves a pool, in another kind of transaction
	default:
		var p ipam.Pool
		p, known = s.cache.sources.Get(poolKey{o.key.ID, spec.PoolRef})
		facts.Pool, facts.Granted = &p, true
	}
	o.cached, o.epochs = known, facts.Class.Epochs
	return facts
}

// cacheIsCurrent reports whether the order's cached class and its pools are still current, and whether the pool is still used in the same region.
func (o *order) cacheIsCurrent(src *openPool, region string) bool {
	switch {
	case !o.cached:
		return true
	case o.regionChanged(src, region):
		return false
	case o.choice.Ask.Class == nil:
		return true
	}
	own, there := src.epochs[o.key.ID] // no entry: the project is gone
	return there && o.epochs == storage.ClassEpochs{Own: own, Platform: src.epochs[ipam.ID{}]}
}

// regionChanged reports whether the pool must now be used in another region, because the pool has changed since it was cached. The other region is
// usually nearer to this server.
func (o *order) regionChanged(src *openPool, region string) bool {
	return o.choice.candidates[0].Revision != src.pool.Revision && src.pool.InRegion(region).Place() != src.pool.Place()
}
