package telemetry

import "sync"

// maxClasses is how many classes are told apart. The SDK's own bound (maxSeries) counts combinations of all labels, and what is beyond it
// loses all of them: without this one, many classes would hide what comes of claims.
const maxClasses = 1000

// otherNames stands for all names beyond the bound. It is no class: those are called project/name.
const otherNames = "other"

// names lets the first so many names through; they stay for the life of the process.
type names struct {
	limit int
	mu    sync.Mutex
	known map[string]bool
}

func newNames(limit int) *names { return &names{limit: limit, known: map[string]bool{}} }

// bounded is the name itself while there is room for it; "", which is no name, always.
func (n *names) bounded(name string) string {
	if name == "" {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[name] {
		if len(n.known) == n.limit {
			return otherNames
		}
		n.known[name] = true
	}
	return name
}
