package pgfault

import (
	"context"
	"sync"
)

// Fault decides about one event: the zero Action lets it pass. A Fault is called for one event at a time, whatever
// the number of connections, so it may keep state without a lock; it must not block (Hold is the way to wait).
type Fault func(Event) Action

// Rule is what a proxy can be given: a Fault, RewriteSQL or StripLocks.
type Rule interface{ addTo(*ruleSet) }

func (f Fault) addTo(s *ruleSet) { s.faults = append(s.faults, f) }

// ruleSet holds the rules in force and what has been injected.
type ruleSet struct {
	mu       sync.Mutex
	faults   []Fault
	rewrites []func(sql string) string
	injected map[string]int
	changed  chan struct{} // closed, and made anew, when injected changes
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

// decide asks the faults in order. Delays add up and holds are kept until a fault changes what happens; that one ends
// the round, so that a fault which was not reached has not used up its turn. Delays and holds are counted here, other
// faults when they have happened.
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
