package logs

// cacheSteps makes the steps of a server's cached fold: load, tail, snapshot.
func (m *machine) cacheSteps(s *state, sv, c int) {
	k, l := &s.servers[sv].caches[c], &s.logs[c]
	if !k.warm {
		m.load(s, sv, c)
		return
	}
	for p := range maxPages {
		if m.page(p)&^k.known != 0 {
			m.loadPage(s, sv, c, p)
		}
	}
	if k.seq < l.head {
		m.tail(s, sv, c)
	}
	if m.Snapshots && k.known == m.all() {
		m.snapshotSteps(s, sv, c)
	}
}

// load makes a cold server read the newest root. Without snapshots it folds the whole log. The server must read the holds of waiting releases
// again, because it does not see the entries that the snapshot covers.
func (m *machine) load(s *state, sv, c int) {
	n, l := *s, &s.logs[c]
	k := &n.servers[sv].caches[c]
	if m.Snapshots {
		*k = cache{warm: true, seq: l.root, root: l.root}
	} else {
		*k = cache{warm: true, seq: l.head, known: m.all(), held: l.fold[l.head]}
	}
	if m.twin != ReleaseOverLoad {
		m.readAgain(&n, sv, c)
	}
	m.next("Load", sv, -1, c, &n, "")
}

// loadPage reads the page version that the root names, for the addresses that no later entry has changed. A server whose version is collected
// begins again.
func (m *machine) loadPage(s *state, sv, c, p int) {
	n, l := *s, &s.logs[c]
	k := &n.servers[sv].caches[c]
	version := k.root
	if m.twin == PageOfOtherRoot {
		version = l.root
	} else if k.pages[p] == collected {
		*k = cache{}
		m.next("MissPage", sv, -1, c, &n, "")
		return
	}
	fresh := m.page(p) &^ k.known
	k.known |= fresh
	k.held |= l.fold[version] & fresh
	m.next("LoadPage", sv, -1, c, &n, "")
}

// tail reads the rows from the cached number on, and folds them. If the row of the cached number itself is deleted, later rows may be deleted
// too, so the server becomes cold.
func (m *machine) tail(s *state, sv, c int) {
	n, l := *s, &s.logs[c]
	k := &n.servers[sv].caches[c]
	from := k.seq
	if !l.visible(k.seq) {
		if m.twin != TailWithGap {
			*k = cache{}
			m.next("MissRow", sv, -1, c, &n, "")
			return
		}
		from = l.gone
	}
	changed := l.fold[from] ^ l.fold[l.head]
	k.held = k.held&^changed | l.fold[l.head]&changed
	k.known |= changed
	k.seq = l.head
	if m.twin != ReleaseByOldRead {
		m.endSeen(&n, sv, c)
	}
	m.next("Tail", sv, -1, c, &n, "")
}

// endSeen makes the server read the hold of a waiting release again if an entry of the tail ended it.
func (m *machine) endSeen(s *state, sv, c int) {
	for i := range m.Wants {
		it := &s.servers[sv].items[i]
		if it.kind == release && it.stage == ready {
			if h := s.holdOf(i, it.ask); int(h.log) == c && h.life != live {
				it.stage = read
			}
		}
	}
}

// readAgain makes the server read the holds of all waiting releases of a container again.
func (m *machine) readAgain(s *state, sv, c int) {
	for i := range m.Wants {
		it := &s.servers[sv].items[i]
		if it.kind == release && it.stage == ready && int(s.holdOf(i, it.ask).log) == c {
			it.stage = read
		}
	}
}

// snapshotSteps writes a snapshot from the cached fold, in one transaction. If the server's root is still the newest, the snapshot may reuse
// pages that have not changed; otherwise it has all pages. It never replaces a newer snapshot.
func (m *machine) snapshotSteps(s *state, sv, c int) {
	k, l := &s.servers[sv].caches[c], &s.logs[c]
	if k.seq == l.root || k.seq < l.root && m.twin != OlderRoot {
		return
	}
	based := k.root == l.root || m.twin == RootNotCompared && k.root > 0
	for written := range 1 << maxPages {
		if written+1 < 1<<maxPages && !based {
			continue
		}
		n := *s
		if broken, ok := m.snapshot(&n, sv, c, written); ok {
			m.next("Snapshot", sv, -1, c, &n, broken)
		}
	}
}

// snapshot writes a root and the given pages. It returns false if a page that is not given must be written too.
func (m *machine) snapshot(s *state, sv, c, written int) (broken Promise, ok bool) {
	k, l := &s.servers[sv].caches[c], &s.logs[c]
	seq := k.seq
	if m.twin == SnapshotSkips {
		seq = l.head
	}
	for p := range maxPages {
		if written&(1<<p) != 0 {
			if (k.held^l.fold[seq])&m.page(p) != 0 {
				broken = broken.or(SnapshotTrue)
			}
			m.replacePage(s, c, p)
			k.pages[p] = newest
			continue
		}
		if (k.held^l.fold[k.root])&m.page(p) != 0 && m.twin != PageNotDirty {
			return "", false
		}
		if (l.fold[seq]^l.fold[k.root])&m.page(p) != 0 {
			broken = broken.or(SnapshotTrue)
		}
		if k.pages[p] == collected {
			broken = broken.or(Loadable)
		}
	}
	k.root, l.root = seq, seq
	return broken, true
}

// replacePage marks a page's version as replaced in all caches whose root names it.
func (m *machine) replacePage(s *state, c, p int) {
	for sv := range s.servers {
		if k := &s.servers[sv].caches[c]; k.warm && k.pages[p] == newest {
			k.pages[p] = replaced
		}
	}
}
