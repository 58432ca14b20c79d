package pools

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits for the cache: look-ups, and the pools in all of them together (half a kilobyte each).
const (
	maxCachedClasses = 4096
	maxCachedPools   = 65536
)

// ClassCache caches the result of class look-ups: the class to which a name, or the default for a family, resolves for a project, and the pools
// behind it. Its entries are always verified: every look-up, or else the claim's transaction, reads the versions (epochs) of the two projects
// involved, and reads the class again if they differ. So the cache saves statements and never changes a result.
type ClassCache struct {
	known *lru.Cache[classKey, storage.ClassFacts]
	write *sync.Mutex // held while adding: an old entry is removed before its successor is added
	pools *int        // in all entries; guarded by write
}

type classKey struct {
	project ipam.ID
	name    string
	family  ipam.Family
}

// NewClassCache makes an empty cache.
func NewClassCache() ClassCache {
	m := ClassCache{write: new(sync.Mutex), pools: new(int)}
	var err error
	m.known, err = lru.NewWithEvict(maxCachedClasses, func(_ classKey, gone storage.ClassFacts) { *m.pools -= len(gone.Pools) })
	if err != nil {
		panic(err) // the size is positive
	}
	return m
}

// Cached returns the cached entry, which may be out of date: the caller must compare its epochs with those in the transaction.
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

// LookUp is Reader.ClaimLookup with the class from the cache if that is still current.
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

// put caches a result. It does not cache a missing class, because anyone can ask for names that do not exist.
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
