package pools

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// These limits apply to the cached look-ups, and to the pools in all look-ups together. A pool needs about 500 bytes.
const (
	maxCachedClasses = 4096
	maxCachedPools   = 65536
)

// ClassCache caches the results of class look-ups. A look-up finds the class to which a name resolves for a project, or a family's default class,
// with the pools that list the class. Every use of an entry includes a check. Either the look-up or the claim's transaction reads the versions
// (epochs) of the two projects involved. If a version differs, it reads the class again. So the cache saves statements and never changes a result.
type ClassCache struct {
	known *lru.Cache[classKey, storage.ClassFacts]
	write *sync.Mutex // held during an addition, which removes the old entry before it adds the new one
	pools *int        // the number of pools in all entries; protected by write
}

type classKey struct {
	project ipam.ID
	name    string
	family  ipam.Family
}

// NewClassCache creates an empty cache.
func NewClassCache() ClassCache {
	m := ClassCache{write: new(sync.Mutex), pools: new(int)}
	var err error
	m.known, err = lru.NewWithEvict(maxCachedClasses, func(_ classKey, gone storage.ClassFacts) { *m.pools -= len(gone.Pools) })
	if err != nil {
		panic(err) // the size is positive
	}
	return m
}

// Cached returns a cached entry, which may be outdated. The caller must compare its epochs (versions) with the versions in the transaction.
func (m ClassCache) Cached(key storage.ProjectKey, q storage.ClassQuery) (storage.ClassFacts, bool) {
	return m.known.Get(keyOf(key, q))
}

func keyOf(key storage.ProjectKey, q storage.ClassQuery) classKey {
	ask := classKey{project: key.ID, name: q.Name}
	if ask.name == "" {
		ask.family = q.Family
	}
	return ask
}

// LookUp is Reader.ClaimLookup, but it takes the class from the cache if the cached class is still current.
func (m ClassCache) LookUp(ctx context.Context, read storage.Reader, q storage.ClaimQuery) (storage.ClaimFacts, error) {
	if q.Class == nil {
		return read.ClaimLookup(ctx, q)
	}
	ask := keyOf(q.Project, *q.Class)
	was, known := m.known.Get(ask)
	class := *q.Class
	class.Known = known
	q.Class = &class
	facts, err := read.ClaimLookup(ctx, q)
	if err != nil {
		return facts, err
	}
	if known && facts.Class.Epochs == was.Epochs {
		facts.Class = was
		return facts, nil
	}
	if known {
		class.Known = false
		if facts, err = read.ClaimLookup(ctx, q); err != nil {
			return facts, err
		}
	}
	m.put(ask, facts.Class)
	return facts, nil
}

// put caches a result. It does not cache a missing class, because a caller may request any number of names that do not exist.
func (m ClassCache) put(ask classKey, facts storage.ClassFacts) {
	m.write.Lock()
	defer m.write.Unlock()
	m.known.Remove(ask)
	if facts.Found == nil {
		return
	}
	class := *facts.Found
	class.Labels, class.Annotations = nil, nil
	facts.Found = &class
	*m.pools += len(facts.Pools)
	m.known.Add(ask, facts)
	for *m.pools > maxCachedPools {
		if _, _, some := m.known.RemoveOldest(); !some {
			return
		}
	}
}
