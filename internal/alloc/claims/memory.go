package claims

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// What a server remembers at most, about half a kilobyte each.
const (
	maxRememberedSources = 16384
	maxRememberedClaims  = 16384
)

// doubtAge is how long a project's claims are looked up before they are made, after one of them met a name or a key that was in use. What
// meets in a transaction makes all of its group run again; somebody who repeats himself pays with a look-up instead.
const doubtAge = 10 * time.Second

// Memory is what a server remembers of projects, and of the pools that their claims were served from. It is not trusted: a request that
// begins with what is remembered ends in a transaction that reads the same again, or finds only what lies under the remembered id. Where
// that does not agree, and before anything is refused, the request begins anew with what the database says. So it saves round trips,
// and can answer nothing that a request without it would not.
type Memory struct {
	sources *lru.Cache[sourceAsk, ipam.Pool]
	pools   *lru.Cache[ipam.ID, ipam.Pool]          // of claims that were released
	claims  *lru.Cache[storage.NameRef, ipam.Claim] // that were made here
	doubts  *lru.Cache[ipam.ID, time.Time]          // since when, by project
}

// sourceAsk is a pool by name as one project may use it. Others cannot find out by it what there is.
type sourceAsk struct {
	project ipam.ID
	pool    ipam.Ref
}

// NewMemory makes a memory of nothing.
func NewMemory() Memory {
	return Memory{
		sources: usecase.NewLRU[sourceAsk, ipam.Pool](maxRememberedSources),
		pools:   usecase.NewLRU[ipam.ID, ipam.Pool](maxRememberedSources),
		claims:  usecase.NewLRU[storage.NameRef, ipam.Claim](maxRememberedClaims),
		doubts:  usecase.NewLRU[ipam.ID, time.Time](usecase.MaxRememberedProjects),
	}
}

// keepPool remembers a pool that a project may use.
func (m Memory) keepPool(key storage.ProjectKey, p ipam.Pool) {
	m.sources.Add(sourceAsk{key.ID, p.Ref()}, slim(p))
}

// maxClaimText bounds what a remembered claim says about itself, in bytes; others are not kept.
const maxClaimText = 1024

// keepClaim caches a claim that was made, until its release. The release deletes the claim at the cached revision, or reads it again. Claims with consumers
// are not cached: their releases are refused, and only a read may decide that.
func (m Memory) keepClaim(c ipam.Claim) {
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

// forgetClaim is for claims that have changed.
func (m Memory) forgetClaim(key storage.ProjectKey, name string) {
	m.claims.Remove(storage.NameRef{ProjectID: key.ID, Name: name})
}

// takeClaim answers a claim that is remembered, and forgets it.
func (m Memory) takeClaim(key storage.ProjectKey, name string, match usecase.Match) (ipam.Claim, bool) {
	ref := storage.NameRef{ProjectID: key.ID, Name: name}
	c, known := m.claims.Peek(ref)
	m.claims.Remove(ref)
	return c, known && match.Check(c.Revision) == nil // nothing is refused for what is remembered
}

// refresh replaces what is remembered of a pool, if it is.
func (m Memory) refresh(key storage.ProjectKey, p ipam.Pool) {
	if ask := (sourceAsk{key.ID, p.Ref()}); m.sources.Contains(ask) {
		m.sources.Add(ask, slim(p))
	}
	if m.pools.Contains(p.UID) {
		m.pools.Add(p.UID, slim(p))
	}
}

// slim leaves out what may be large and decides nothing about a claim, and where the pool was drawn from: each claim decides that anew.
func slim(p ipam.Pool) ipam.Pool {
	p.At = ""
	p.Labels, p.Annotations, p.Spec.Description, p.Spec.Reservations = nil, nil, "", nil
	return p
}

// fromMemory answers what is remembered for a claim, and notes that the transaction has to find the same, if that is enough to begin with.
func (s *creator) fromMemory(o *order) (facts storage.ClaimFacts) {
	since, doubted := s.memory.doubts.Peek(o.key.ID)
	spec, known := o.claim.Spec, false
	switch {
	case doubted && s.Ticks().Sub(since) < doubtAge, spec.AllocationRef != "", spec.PoolSelector != nil:
	case spec.ByClass():
		facts.Class, known = s.classes.Remembered(o.key, *resolve.ClassQuery(spec))
		known = known && !facts.Class.Found.Scoped() // a first claim carves a pool, which is another transaction
	default:
		var p ipam.Pool
		p, known = s.memory.sources.Get(sourceAsk{o.key.ID, spec.PoolRef})
		facts.Pool, facts.Granted = &p, true
	}
	o.remembered, o.epochs = known, facts.Class.Epochs
	return facts
}

// agrees reports whether the class that was remembered for an order, and the pools behind it, are what they were, and the pool is drawn from where it was.
func (o *order) agrees(src *source, region string) bool {
	switch {
	case !o.remembered:
		return true
	case o.fartherThan(src, region):
		return false
	case o.choice.Ask.Class == nil:
		return true
	}
	own, there := src.epochs[o.key.ID] // not there: the project is gone
	return there && o.epochs == storage.ClassEpochs{Own: own, Platform: src.epochs[ipam.ID{}]}
}

// fartherThan reports whether the pool has changed since it was remembered for an order, and a server of the region draws from it in another one by now: a nearer
// one, most likely.
func (o *order) fartherThan(src *source, region string) bool {
	return o.choice.room[0].Revision != src.pool.Revision && src.pool.In(region).Place() != src.pool.Place()
}
