package e2e

import "sync"

// tally counts each operation's responses.
type tally struct {
	mu      sync.Mutex
	done    map[string]int // successes by operationId
	refused map[string]int // refusals by operationId
	codes   map[string]int // refusals by code
}

func (s *tally) add(op *operation, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done, s.refused, s.codes = map[string]int{}, map[string]int{}, map[string]int{}
	}
	if p, ok := problemOf(a); ok {
		s.codes[p.Code]++
	}
	if op == nil {
		return
	}
	if a.ok() {
		s.done[op.id]++
	} else {
		s.refused[op.id]++
	}
}
