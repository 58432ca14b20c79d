package telemetry

import (
	"strings"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxClasses is the largest number of classes with labels of their own. The SDK has a limit too (maxSeries), but it counts combinations of labels.
// Series beyond that limit lose all labels. So without maxClasses, a large number of classes would hide the outcomes of claims.
const maxClasses = 1000

// otherNames replaces all names beyond the limit. It cannot be the name of a class, because classes are named project/name.
const otherNames = "other"

// shareOfRoom limits one project to a sixteenth of the room that is left. A tenant may create any number of classes, and later tenants still find
// nearly as much room. Many projects together use up the room, and each of them gets less than the one before.
const shareOfRoom = 16

// names limits the number of distinct names, in total and for each project. A name stays for the life of the process, because the SDK keeps its
// series that long anyway. The platform project has no limit of its own, because only platform admins create names there.
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
