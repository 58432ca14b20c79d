package telemetry

import (
	"strings"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxClasses is how many classes are told apart. The SDK's own bound (maxSeries) counts combinations of all labels, and what is beyond it
// loses all of them: without this one, many classes would hide what comes of claims.
const maxClasses = 1000

// otherNames stands for all names beyond the bound. It is no class: those are called project/name.
const otherNames = "other"

// shareOfRoom is which part of the room that is left one project may have filled: a tenant makes classes as it likes, and whatever it makes,
// those who come later find nearly as much room as there was. Many projects together use it up in the end, each by less than the one before.
const shareOfRoom = 16

// names lets so many names through, of each project a share; they stay for the life of the process, because the SDK keeps their series that long
// anyway. Those of the platform, which only its admins make, have no share to keep to.
type names struct {
	limit int
	mu    sync.Mutex
	known map[string]bool
	of    map[string]int // names that are known, by project
}

func newNames(limit int) *names {
	return &names{limit: limit, known: map[string]bool{}, of: map[string]int{}}
}

// bounded is the name itself, which is project/name, while there is room for it; "", which is no name, always.
func (n *names) bounded(name string) string {
	if name == "" {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[name] {
		return name
	}
	project, _, _ := strings.Cut(name, "/")
	room, mine := n.limit-len(n.known), n.of[project]
	if room <= 0 || project != ipam.PlatformProject && mine > room/shareOfRoom {
		return otherNames
	}
	n.known[name] = true
	n.of[project]++
	return name
}
