package telemetry

import (
	"strings"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxClasses limits the classes that have their own label. The SDK has a limit too (maxSeries), but it counts label combinations. Series beyond that
// limit lose all labels. So without maxClasses, many classes would hide the claims' outcomes.
const maxClasses = 1000

// otherNames replaces all names beyond the limit. It cannot be a class's name, because classes are named project/name.
const otherNames = "other"

// shareOfRoom limits one project to a sixteenth of the remaining room. A tenant may create many classes, and later tenants still find nearly as much
// room. Many projects together use up the room, and each gets less than the one before.
const shareOfRoom = 16

// names limits the distinct names, in total and for each project. A name stays until the process ends, because the SDK keeps its series that long
// anyway. The platform project has no separate limit, because only platform admins create names there.
type names struct {
	limit int
	mu    sync.Mutex
	known map[string]bool
	of    map[string]int // number of known names, by project
}

func newNames(limit int) *names {
	return &names{limit: limit, known: map[string]bool{}, of: map[string]int{}}
}

// bounded returns the name, in the form project/name, if there is room for it. Otherwise it returns otherNames. It returns "" for "".
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
