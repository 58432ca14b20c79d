package logs

import (
	"fmt"
	"strings"
)

// machine makes the steps of the model.
type machine struct {
	Bounds

	twin Twin
	emit func(step, *state, Promise)
}

// step is one transition between states, for a trace.
type step struct {
	name   string
	server int8 // -1 for no server
	client int8 // -1 for no client
	log    int8 // -1 for no container
	group  *flight
}

func (a step) String() string {
	var args []string
	if a.server >= 0 {
		args = append(args, fmt.Sprintf("server %d", a.server+1))
	}
	if a.client >= 0 {
		args = append(args, fmt.Sprintf("client %d", a.client+1))
	}
	if a.log >= 0 {
		args = append(args, "container "+logName(int(a.log)))
	}
	if a.group != nil {
		args = append(args, a.group.String())
	}
	return a.name + "(" + strings.Join(args, ", ") + ")"
}

func logName(c int) string { return string(rune('A' + c)) } //nolint:gosec // G115: at most two containers

// all returns the set of all addresses of a container.
func (m *machine) all() mask { return 1<<m.Size - 1 }

// page returns the addresses of a page.
func (m *machine) page(p int) mask {
	half := m.Size / maxPages
	return (1<<half - 1) << (p * half)
}

// start returns the state after the creation of the containers. Each has one log row, and a snapshot at this row. All servers are cold.
func (m *machine) start() state {
	var s state
	for c := range m.Logs {
		s.logs[c].append(0)
		s.logs[c].root = s.logs[c].head
	}
	return s
}

// steps emits every transition from a state.
func (m *machine) steps(s *state) {
	for i := range m.Wants {
		m.clientSteps(s, i)
	}
	for sv := range s.servers {
		for c := range m.Logs {
			m.cacheSteps(s, sv, c)
		}
		for i := range m.Wants {
			m.itemSteps(s, sv, i)
		}
		m.groupSteps(s, sv)
		m.crash(s, sv)
	}
	m.flightSteps(s)
	m.collectSteps(s)
	m.sweepSteps(s)
}

// next emits a transition. Arguments that do not apply are -1.
func (m *machine) next(name string, server, client, log int, s *state, broken Promise) {
	m.nextGroup(name, server, client, log, nil, s, broken)
}

func (m *machine) nextGroup(name string, server, client, log int, group *flight, s *state, broken Promise) {
	if m.twin == RefusesUnread || m.twin == RefusesPiecemeal {
		m.noteFull(s)
	}
	m.emit(step{name, int8(server), int8(client), int8(log), group}, s, broken) //nolint:gosec // G115: below 4
}

// noteFull records for each waiting claim whether all its containers were full at some moment. Such a moment justifies the refusal "full".
func (m *machine) noteFull(s *state) {
	for i, want := range m.Wants {
		c := &s.clients[i]
		c.full = c.phase == claiming && (c.full || m.full(s, want))
	}
}

// full reports whether containers are full.
func (m *machine) full(s *state, want where) bool {
	for c := range m.Logs {
		if want.has(c) && s.logs[c].fold[s.logs[c].head] != m.all() {
			return false
		}
	}
	return true
}

func (w where) has(c int) bool { return w&(1<<c) != 0 }
