package alerts

import (
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Alerts is the use cases on alert rules and alerts, and what looks whether alerts begin and end.
type Alerts struct {
	*usecase.Core

	mu      sync.Mutex
	count   map[ipam.AlertAbout]int64 // of the region; nil: not known yet
	counted time.Time                 // when, by the process's own clock
	dueAt   time.Time                 // since when the rule waits for a look that has for longest; zero: none does
	failed  map[ipam.ID]failure       // of rules, since their last look that did not fail
}

// New makes the room.
func New(core *usecase.Core) *Alerts {
	return &Alerts{Core: core, failed: map[ipam.ID]failure{}}
}

// AlertsStand answers how many alerts there were in this region some seconds ago, and for how long the rule waits for a look that has for longest.
func (s *Alerts) AlertsStand() (count map[ipam.AlertAbout]int64, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dueAt.IsZero() {
		late = max(0, s.Now().Sub(s.dueAt))
	}
	return s.count, late
}
