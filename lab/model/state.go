package model

// phase is the stage of a client's request.
type phase uint8

const (
	idle    phase = iota
	look          // a server searches for the stored response of the request's key
	carve         // a server is about to run the transaction that binds the claim
	borrow        // the region has no room
	doubt         // no region has room, and the server is about to search for the key once more
	unsure        // the client got no response
	held          // the client knows that the claim is bound
	refused       // the client knows that the claim was refused
	release       // a server is about to run the transaction that deletes the claim
	adrift        // the client got no response to its release
)

// row is a stored claim with its block. It is stored with the client that requested it. ask 0 means no row.
type row struct {
	ask uint8
	at  node
}

// late is an abandoned request that may still take effect, in a server or in a COMMIT. ask 0 means no such request.
type late struct {
	release bool
	ask     uint8
	size    uint8
}

// client is a client with its current request, the response that it got, and its rows. It has one claim at a time. The claim always has the same name
// and is always in the same region.
type client struct {
	phase phase
	ask   uint8 // number of its claim, which is also the idempotency key and the claim's identity
	size  uint8 // wanted size, during a request
	what  uint8 // the claim to release
	told  node  // block in the response, while the client holds the claim
	late  late

	row  row
	keys uint8 // the asks with stored responses
	done uint8 // the asks that took effect; only the promises read this field

	sought uint8 // only for ExhaustedPiecemeal: the regions that had no room when they were searched
	full   bool  // only for ExhaustedPiecemeal: at some moment since the request, no region had room
}

// backup is a copy of one region's rows at some moment.
type backup struct {
	stage  stage
	region uint8
	old    bool // the record's epoch has changed since the backup
	marked bool // the region's version has not changed since the backup
	free   mask
	rows   [maxClients]row
	keys   [maxClients]uint8
}

// memory is a server's cache of its region's free rows and their version. The model does not store versions. As with epochs, it stores only whether
// two versions are equal.
type memory struct {
	known    bool
	current  bool // the region still has the cached version
	backedUp bool // the backup has the cached version
	free     mask
}

type stage uint8

const (
	none stage = iota
	taken
	restored
)

// state is a complete state of the model. It stores no epochs, because each new epoch differs from all earlier ones. It stores only whether two
// epochs are equal.
type state struct {
	free   [maxRegions]mask
	loans  [maxRegions]mask // the blocks on loan to a region; empty for the home region
	stale  uint8            // regions whose rows and record have different epochs
	lost   uint8
	client [maxClients]client
	backup backup
	memory [maxClients]memory // the cache of the server that each client uses; empty without Bounds.Remembers
}

func (s *state) isStale(region int) bool { return s.stale&(1<<region) != 0 }

// packer writes a state into bits.
type packer struct {
	to   []byte
	word uint64
	used int
}

func (p *packer) put(v uint64, width int) {
	p.word |= v << p.used
	for p.used += width; p.used >= 8; p.used -= 8 {
		p.to = append(p.to, byte(p.word)) //nolint:gosec // G115: the lowest eight bits
		p.word >>= 8
	}
}

// pack writes a state into as few bytes as possible. All states of a search have the same length.
func (m *machine) pack(to []byte, s *state) []byte {
	p := packer{to: to}
	nodes, at := 2*m.Size, m.sum.depth+1
	flag := func(b bool) {
		if b {
			p.put(1, 1)
		} else {
			p.put(0, 1)
		}
	}
	for r := range m.Regions {
		p.put(uint64(s.free[r]), nodes)
		if r > 0 {
			p.put(uint64(s.loans[r]), nodes)
		}
	}
	p.put(uint64(s.stale), maxRegions)
	p.put(uint64(s.lost), 4)
	for i := range m.Asks {
		c := &s.client[i]
		p.put(uint64(c.phase), 4)
		p.put(uint64(c.ask), 2)
		p.put(uint64(c.size), 5)
		p.put(uint64(c.what), 2)
		p.put(uint64(c.told), at)
		flag(c.late.release)
		p.put(uint64(c.late.ask), 2)
		p.put(uint64(c.late.size), 5)
		p.put(uint64(c.row.ask), 2)
		p.put(uint64(c.row.at), at)
		p.put(uint64(c.keys), maxAsks+1)
		p.put(uint64(c.done), maxAsks+1)
		if m.twin == ExhaustedPiecemeal {
			p.put(uint64(c.sought), maxRegions)
			flag(c.full)
		}
	}
	if len(m.Restored) > 0 {
		b := &s.backup
		p.put(uint64(b.stage), 2)
		p.put(uint64(b.region), 2)
		flag(b.old)
		if m.Remembers {
			flag(b.marked)
		}
		p.put(uint64(b.free), nodes)
		for i := range m.Asks {
			p.put(uint64(b.rows[i].ask), 2)
			p.put(uint64(b.rows[i].at), at)
			p.put(uint64(b.keys[i]), maxAsks+1)
		}
	}
	for i := range m.Asks {
		if mem := &s.memory[i]; m.Remembers {
			flag(mem.known)
			flag(mem.current)
			flag(mem.backedUp)
			p.put(uint64(mem.free), nodes)
		}
	}
	p.put(0, 7) // the last bits fill their byte
	return p.to
}
