package pgfault

import (
	"context"
	"sync"
)

// Fault returns the action for one event. The zero Action lets the event pass. The proxy calls a Fault for one event at a time over all connections,
// so a Fault may keep state without a lock. It must not block. To wait, use Hold.
type Fault func(Event) Action

// Rule is a rule of a proxy: a Fault, RewriteSQL or StripLocks.
type Rule interface{ addTo(*ruleSet) }

func (f Fault) addTo(s *ruleSet) { s.faults = append(s.faults, f) }

// ruleSet holds the current rules and the counts of injections.
type ruleSet struct {
	mu       sync.Mutex
	faults   []Fault
	rewrites []func(sql string) string
	injected map[string]int
	changed  chan struct{} // closed and replaced when injected changes
}

func newRuleSet(rules []Rule) *ruleSet {
	s := &ruleSet{injected: map[string]int{}, changed: make(chan struct{})}
	s.set(rules)
	return s
}

func (s *ruleSet) set(rules []Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.rewrites = nil, nil
	for _, r := range rules {
		r.addTo(s)
	}
}

// decide calls the faults in order and combines their delays and holds. It stops after the first fault with another effect, so that later faults with
// a count (Nth, First) do not count this event. decide counts delays and holds. Other faults are counted when they take effect.
func (s *ruleSet) decide(e Event) Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out Action
	for _, f := range s.faults {
		a := f(e)
		if e.Kind == Prepare { // nothing runs, so nothing can fail
			a = Action{Name: a.Name, Delay: a.Delay, Hold: a.Hold}
		}
		if a.Delay == 0 && a.Hold == nil && a.passive() {
			continue
		}
		a.Delay += out.Delay
		if a.Hold == nil {
			a.Hold = out.Hold
		}
		out = a
		if !a.passive() {
			break
		}
		s.countLocked(a.Name)
	}
	return out
}

func (s *ruleSet) rewrite(sql string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.rewrites {
		sql = f(sql)
	}
	return sql
}

func (s *ruleSet) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countLocked(name)
}

func (s *ruleSet) countLocked(name string) {
	if name == "" {
		return
	}
	s.injected[name]++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *ruleSet) awaitCount(ctx context.Context, name string, n int) error {
	for {
		s.mu.Lock()
		have, changed := s.injected[name], s.changed
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
