package telemetry

import (
	"strings"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxClasses is the maximum number of classes with separate labels. The SDK's own limit (maxSeries) counts label combinations, and series
// beyond it lose all labels: without maxClasses, many classes would hide the claim outcomes.
const maxClasses = 1000

// otherNames stands for all names beyond the limit. It cannot be a class, since classes are named project/name.
const otherNames = "other"

// shareOfRoom divides the remaining room: one project may fill a sixteenth of it. A tenant creates as many classes as it likes, and later tenants
// still find nearly as much room. Many projects together use it up in the end, each with less than the one before.
const shareOfRoom = 16

// names limits distinct names, in total and by project. A name stays for the life of the process, because the SDK keeps its series that long anyway.
// The platform project has no share of its own, since only its admins create names there.
type names struct {
	limit int
	mu    sync.Mutex
	known map[string]bool
	of    map[string]int // number of known names, by project
}

func newNames(limit int) *names {
	return &names{limit: limit, known: map[string]bool{}, of: map[string]int{}}
}

// bounded returns the name (project/name) while there is room for it, and otherNames otherwise. It always returns "" for "".
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
