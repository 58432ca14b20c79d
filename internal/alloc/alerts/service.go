package alerts

import (
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Alerts contains the use cases for alert rules and alerts, and the job that checks the rules.
type Alerts struct {
	*usecase.Core

	mu      sync.Mutex
	count   map[ipam.AlertAbout]int64 // alerts in the region; nil: not counted yet
	counted time.Time                 // when count was read, by the process's own clock
	dueAt   time.Time                 // due time of the rule that waits longest; zero: no rule waits
	failed  map[ipam.ID]failure       // by rule; a successful step removes the entry
}

// New makes the use cases.
func New(core *usecase.Core) *Alerts {
	return &Alerts{Core: core, failed: map[ipam.ID]failure{}}
}

// AlertCounts returns the number of alerts that this region had some seconds ago. delay is the time for which the longest waiting rule has been due.
func (s *Alerts) AlertCounts() (count map[ipam.AlertAbout]int64, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dueAt.IsZero() {
		delay = max(0, s.Now().Sub(s.dueAt))
	}
	return s.count, delay
}
