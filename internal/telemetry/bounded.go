package telemetry

import (
	"strings"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxClasses limits the classes that have their own label. The SDK has a limit too (maxSeries), but it counts label combinations. Series beyond that
// limit lose all labels. Without maxClasses, many classes would therefore hide the outcomes of claims.
const maxClasses = 1000

// otherNames replaces all names beyond the limit. It cannot be a class's name, because classes are named project/name.
const otherNames = "other"

// projectShare limits one project to a sixteenth of the names that remain. So one tenant with many classes leaves nearly as many names for later
// tenants. Many projects together can use all names, and each project gets fewer names than the project before.
const projectShare = 16

// names limits the distinct names, in total and for each project. A name stays until the process ends, because the SDK keeps its series that long
// anyway. The platform project has no separate limit, because only platform admins create names there.
type names struct {
	limit      int
	mu         sync.Mutex
	known      map[string]bool
	perProject map[string]int // number of known names, by project
}

func newNames(limit int) *names {
	return &names{limit: limit, known: map[string]bool{}, perProject: map[string]int{}}
}

// admit returns a name in the form project/name, or otherNames if the name exceeds a limit. It returns "" for "".
func (n *names) admit(name string) string {
	if name == "" {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[name] {
		return name
	}
	project, _, _ := strings.Cut(name, "/")
	remaining, ofProject := n.limit-len(n.known), n.perProject[project]
	if remaining <= 0 || project != ipam.PlatformProject && ofProject > remaining/projectShare {
		return otherNames
	}
	n.known[name] = true
	n.perProject[project]++
	return name
}
