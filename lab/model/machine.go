package model

import (
	"fmt"
	"slices"
	"strings"
)

// machine makes the steps of the model. The steps have the names of docs/model/Carve.tla.
type machine struct {
	Bounds

	twin Twin
	sum  *arithmetic
	emit func(step, *state, Promise)
}

// step is one transition between states, for a trace.
type step struct {
	name   string
	client int8 // -1 for no client
	region int8 // -1 for no region
	block  node
	size   uint8
}

func (m *machine) describe(a step) string {
	var args []string
	if a.client >= 0 {
		args = append(args, fmt.Sprintf("client %d", a.client+1))
	}
	if a.size > 0 {
		args = append(args, fmt.Sprintf("%d addresses", a.size))
	}
	if a.block > 0 {
		args = append(args, m.sum.prefixes[a.block].String())
	}
	if a.region >= 0 {
		args = append(args, "region "+m.regionName(int(a.region)))
	}
	return a.name + "(" + strings.Join(args, ", ") + ")"
}

func (m *machine) regionName(r int) string {
	if r == 0 {
		return "home"
	}
	return string(rune('a' + r)) //nolint:gosec // G115: a few
}

// start returns the state in which the home region has the whole pool.
func (m *machine) start() state {
	var s state
	s.free[0] = mask(0).with(1)
	return s
}

// steps emits every transition from a state.
func (m *machine) steps(s *state) {
	for i := range m.Asks {
		m.claimSteps(s, i)
		m.releaseSteps(s, i)
		m.lateSteps(s, i)
	}
	m.keeperSteps(s)
	m.restoreSteps(s)
}

func (m *machine) next(name string, client, region int, size uint8, s *state) {
	m.nextBroken(name, client, region, 0, size, s, "")
}

func (m *machine) nextBroken(name string, client, region int, block node, size uint8, s *state, broken Promise) {
	if m.twin == ExhaustedPiecemeal {
		m.noteFull(s)
	}
	m.emit(step{name, int8(client), int8(region), block, size}, s, broken) //nolint:gosec // G115: below 4
}

// noteFull records for each waiting claim whether no region had room at some moment. Such a moment justifies the refusal "exhausted".
func (m *machine) noteFull(s *state) {
	for i := range m.Asks {
		c := &s.client[i]
		switch c.phase {
		case look, carve, borrow, unsure:
			c.full = c.full || !m.anyRoom(s, int(c.size))
		default:
			c.full = false
		}
	}
}

// served reports whether a transaction may read a region's rows. It compares the epochs first.
func (m *machine) served(s *state, region int) bool {
	return !s.isStale(region) || m.twin == NoEpochCheck
}

// fence returns the promise that a transaction breaks if it changes rows of a stale region.
func (m *machine) fence(s *state, regions ...int) Promise {
	if slices.ContainsFunc(regions, s.isStale) {
		return Fenced
	}
	return ""
}
