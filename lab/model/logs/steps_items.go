package logs

// itemSteps makes the steps of one request in a server, outside of groups.
func (m *machine) itemSteps(s *state, sv, i int) {
	it := &s.servers[sv].items[i]
	switch {
	case it.kind == none || it.stage == flying:
	case it.kind == release && it.stage == read:
		n := *s
		if s.holdOf(i, it.ask).life == live {
			n.servers[sv].items[i].stage = ready
		} else {
			m.finish(&n, sv, i)
		}
		m.next("ReadHold", sv, i, -1, &n, "")
	case it.kind == claim && it.stage == ready:
		m.refuseFull(s, sv, i)
		n := *s
		m.refuse(&n, sv, i)
		m.next("GiveUp", sv, i, -1, &n, "")
	case it.kind == claim:
		m.check(s, sv, i)
	}
}

// check searches for a claim's key, and for the hold that has its name, in one read. A stored key answers the request. A live hold with the name
// refuses it. The slow path replaces an ended hold.
func (m *machine) check(s *state, sv, i int) {
	n := *s
	it := &n.servers[sv].items[i]
	mine := s.holdOf(i, it.ask)
	if it.stage == check {
		if mine.life != never {
			m.finish(&n, sv, i)
			m.next("Replay", sv, i, -1, &n, "")
			return
		}
		if m.twin == ChecksApart {
			it.stage = checkName
			m.next("KeyAbsent", sv, i, -1, &n, "")
			return
		}
	}
	holder := m.holder(s, i)
	switch {
	case holder == 0:
		it.stage = ready
	case s.hold(holder).life == ended:
		it.stage, it.replaces = ready, holder
	case m.twin == ReplacesByName:
		it.stage, it.replaces = ready, holder
	default:
		m.refuse(&n, sv, i)
		m.next("RefuseName", sv, i, -1, &n, refusedLeft(mine))
		return
	}
	m.next("CheckName", sv, i, -1, &n, "")
}

// refusedLeft returns the promise that a refusal breaks if its request has taken effect.
func refusedLeft(h *hold) Promise {
	if h.life != never {
		return RefusedLeft
	}
	return ""
}

// holder returns the hold that has the name of a client's claims, or 0.
func (m *machine) holder(s *state, i int) uint8 {
	for j, name := range m.Names {
		for a := uint8(1); a <= s.clients[j].ask && name > 0 && name == m.Names[i]; a++ {
			if h := s.holdOf(j, a); !h.unnamed && (h.life == live || h.life == ended) {
				return reference(j, a)
			}
		}
	}
	return 0
}

// refuseFull refuses a claim that no container can serve. One read returns the tails of the logs, which must be empty, and the claim's key,
// which must be absent.
func (m *machine) refuseFull(s *state, sv, i int) {
	n := *s
	it := &n.servers[sv].items[i]
	for c := range m.Logs {
		k, l := &s.servers[sv].caches[c], &s.logs[c]
		if !m.Wants[i].has(c) || it.seen.has(c) {
			continue
		}
		if !k.warm || k.held&k.known != m.all() || k.seq != l.head && m.twin != RefusesUnread {
			if it.seen != s.servers[sv].items[i].seen {
				m.next("SeeFull", sv, i, -1, &n, "")
			}
			return
		}
		if m.twin == RefusesPiecemeal {
			it.seen |= 1 << c
		}
	}
	if h := s.holdOf(i, it.ask); h.life != never && m.twin != RefusesWithoutKey {
		m.finish(&n, sv, i)
		m.next("ReplayFull", sv, i, -1, &n, "")
		return
	}
	broken := refusedLeft(s.holdOf(i, it.ask))
	if c := &s.clients[i]; (m.twin == RefusesUnread || m.twin == RefusesPiecemeal) && m.waits(s, sv, i, *it) && !c.full {
		broken = broken.or(FullTrue)
	} else if m.twin != RefusesUnread && m.twin != RefusesPiecemeal && !m.full(s, m.Wants[i]) {
		broken = broken.or(FullTrue)
	}
	m.refuse(&n, sv, i)
	m.next("RefuseFull", sv, i, -1, &n, broken)
}
