package logs

import "slices"

// normalize replaces a state by an equivalent one, so that the search meets fewer states.
func (m *machine) normalize(s *state) {
	if m.Whole {
		return
	}
	m.shortenAll(s)
	if !m.Plain {
		m.order(s)
	}
}

// shortenAll ends the flights without a future, forgets data that no step uses any more, and shortens the logs.
func (m *machine) shortenAll(s *state) {
	for at := range s.flights {
		if f := &s.flights[at]; f.used && f.server == 0 && (!f.airborne || !m.mayLand(s, f)) {
			*f = flight{}
		}
	}
	if !s.flights[0].used {
		s.flights[0], s.flights[1] = s.flights[1], flight{}
	}
	for i := range m.Wants {
		m.forget(s, i)
	}
	for c := range m.Logs {
		for sv := range s.servers {
			if k := &s.servers[sv].caches[c]; k.warm && k.known == m.all() && k.root != s.logs[c].root && m.twin != RootNotCompared {
				k.root, k.pages = 0, [maxPages]page{} // the next snapshot has all pages
			}
		}
		if m.twin != TailWithGap {
			m.shorten(s, c)
		}
	}
}

// mayLand reports whether a lost commit may still take effect. A row that exists excludes it for ever, and a row that is deleted too.
func (m *machine) mayLand(s *state, f *flight) bool {
	switch m.twin { //nolint:exhaustive // the others compare and set
	case NoCompareAndSet, AbsentKeyOnly, FencesHalf, CollectsLast:
		return true
	}
	for c := range m.Logs {
		if f.rows[c] > 0 && !m.fits(s, c, f.rows[c]) {
			return false
		}
	}
	return true
}

// nowhere is the address of a hold that no request can name any more.
const nowhere = 255

// forget clears the address of a hold that is swept and that no request can name any more.
func (m *machine) forget(s *state, i int) {
	for a := range s.clients[i].holds {
		h := &s.clients[i].holds[a]
		if h.life != swept || int(s.clients[i].ask) == a+1 {
			continue
		}
		if s.servers[0].items[i].ask != uint8(a)+1 && s.servers[1].items[i].ask != uint8(a)+1 {
			h.log, h.addr = 0, nowhere
		}
	}
}

// shorten numbers the rows of a log again. Only their order, their neighbours, and the folds at numbers in use matter.
func (m *machine) shorten(s *state, c int) {
	l := &s.logs[c]
	if !m.Snapshots {
		l.root = l.head
	}
	var buffer [12]*uint8
	used := append(buffer[:0], &l.head, &l.root)
	for sv := range s.servers {
		if k := &s.servers[sv].caches[c]; k.warm {
			used = append(used, &k.seq)
			if k.root > 0 {
				used = append(used, &k.root)
			}
		}
	}
	var folded [maxRows]bool
	for _, at := range used {
		folded[*at] = true
	}
	for f := range s.flights {
		if s.flights[f].rows[c] > 0 {
			used = append(used, &s.flights[f].rows[c])
		}
	}
	lowest := l.head
	for _, at := range used {
		lowest = min(lowest, *at)
	}
	l.gone = max(l.gone, lowest-1)
	used = append(used, &l.gone)
	slices.SortFunc(used, func(a, b *uint8) int { return int(*a) - int(*b) })
	var folds [maxRows]mask
	last, number, gone := *used[0], uint8(1), l.gone
	if lowest > l.gone {
		number = 0
	}
	for _, at := range used {
		if was := *at; was != last {
			distance := min(was-last, 2)
			if last < gone {
				distance = 1 // between deleted rows, only the order matters
			}
			number += distance
			last = was
		}
		if folded[last] {
			folds[number] = l.fold[last]
		}
		*at = number
	}
	l.fold = folds
}
