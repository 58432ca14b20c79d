package pools

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// What is remembered at most: look-ups, and the pools in all of them together (half a kilobyte each).
const (
	maxRemembered      = 4096
	maxRememberedPools = 65536
)

// ClassMemory remembers which class a name, or the default of a family, came to for a project, and the pools behind it. It is never
// trusted: every look-up, or else the claim's transaction, reads the epochs of the two projects that decide, and what was read at other epochs is read again. So it saves
// statements, and can answer nothing that a look-up without it would not.
type ClassMemory struct {
	known *lru.Cache[classAsk, storage.ClassFacts]
	write *sync.Mutex // of those who remember: what one replaces is taken off before it is added
	pools *int        // in all of them; guarded by write
}

type classAsk struct {
	project ipam.ID
	name    string
	family  ipam.Family
}

// NewClassMemory makes a memory of nothing.
func NewClassMemory() ClassMemory {
	m := ClassMemory{write: new(sync.Mutex), pools: new(int)}
	var err error
	m.known, err = lru.NewWithEvict(maxRemembered, func(_ classAsk, gone storage.ClassFacts) { *m.pools -= len(gone.Pools) })
	if err != nil {
		panic(err) // the size is positive
	}
	return m
}

// Remembered answers what is remembered, which may be old by now: whoever uses it has to compare the epochs with those of the transaction.
func (m ClassMemory) Remembered(key storage.ProjectKey, q storage.ClassQuery) (storage.ClassFacts, bool) {
	return m.known.Get(askOf(key, q))
}

func askOf(key storage.ProjectKey, q storage.ClassQuery) classAsk {
	ask := classAsk{project: key.ID, name: q.Name}
	if ask.name == "" {
		ask.family = q.Family
	}
	return ask
}

// LookUp is Reader.ClaimLookup, with the class from memory if it is still what it was.
func (m ClassMemory) LookUp(ctx context.Context, read storage.Reader, q storage.ClaimQuery) (storage.ClaimFacts, error) {
	if q.Class == nil {
		return read.ClaimLookup(ctx, q)
	}
	ask := askOf(q.Project, *q.Class)
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
	m.remember(ask, facts.Class)
	return facts, nil
}

// remember keeps what was found. That there is no class is not kept: anybody can ask for names that do not exist.
func (m ClassMemory) remember(ask classAsk, facts storage.ClassFacts) {
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
	for *m.pools > maxRememberedPools {
		if _, _, some := m.known.RemoveOldest(); !some {
			return
		}
	}
}
