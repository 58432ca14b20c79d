package rivals

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/claims"
)

// A contestant is one measured way to hand out objects, or to release them.
type contestant struct {
	name   string
	ours   bool
	things string // kind of the objects
	each   int    // objects in one call
	open   func(context.Context, *database, cell) (*session, error)
}

// A cell is one measurement of a contestant, with a number of clients and a number of held blocks.
type cell struct {
	contestant *contestant
	clients    int
	held       int
	round      int
	lasts      time.Duration // duration of the measurement; it determines how many objects to prepare
}

// A session is a contestant that is ready for the clients of its cell.
type session struct {
	// hand hands out one object and returns its number, which is the address's position in the pool or the row's id. Each client has its own number
	// and calls hand from one goroutine.
	hand func(ctx context.Context, client int) (uint64, error)
	// many replaces hand if a call hands out several objects or none. It appends their numbers to handed.
	many func(ctx context.Context, client int, handed []uint64) ([]uint64, error)
	// first is the lowest free number. All numbers below are held.
	first uint64
	// check checks the data afterwards. It may be nil.
	check func(ctx context.Context) error
	close func() error
}

// call makes one call of a client. It appends the numbers of the objects to handed.
func (s *session) call(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
	if s.many != nil {
		return s.many(ctx, client, handed)
	}
	n, err := s.hand(ctx, client)
	if err != nil {
		return handed, err
	}
	return append(handed, n), nil
}

// The contestants, by the names that the goals use.
const (
	insert       = "INSERT"
	httpInsert   = "HTTP + INSERT"
	insertBatch  = "100-row INSERT"
	inProcess    = "Carve, in process"
	overHTTP     = "Carve, HTTP"
	withKeys     = "Carve, HTTP, with keys"
	ownPools     = "Carve, HTTP, own pools"
	release      = "Carve, HTTP, release"
	refuse       = "Carve, HTTP, refuse"
	claimBatch   = "Carve, batch of 1,000"
	httpBatch    = "Carve, HTTP, batch of 1,000"
	lockAndScan  = "lock and scan"
	goIPAMServed = "go-ipam, service"
)

func contestants() map[string]*contestant {
	byName := map[string]*contestant{}
	for _, c := range []*contestant{
		{insert, false, "rows", 1, openInsert},
		{httpInsert, false, "rows", 1, openHTTPInsert},
		{insertBatch, false, "rows", insertRows, openInsertMany},
		{inProcess, true, "claims", 1, openCarve},
		{overHTTP, true, "claims", 1, openCarveHTTP},
		{withKeys, true, "claims", 1, openCarveHTTP},
		{ownPools, true, "claims", 1, openCarveHTTP},
		{release, true, "releases", 1, openRelease},
		{refuse, true, "refusals", 1, openRefuse},
		{claimBatch, true, "claims", claims.MaxBatch, openCarveBatch},
		{httpBatch, true, "claims", claims.MaxBatch, openCarveHTTPBatch},
		{lockAndScan, false, "blocks", 1, openLockAndScan},
		{goIPAMServed, false, "blocks", 1, openGoIPAM},
	} {
		byName[c.name] = c
	}
	for _, c := range logContestants {
		byName[c.name] = c
	}
	return byName
}

// plan returns the cells of one round in the order of their measurement. The two cells of a goal are neighbours, so that both meet the same
// conditions.
func plan(goals []compared, round int, lasts time.Duration) []cell {
	var cells []cell
	all, planned := contestants(), map[cell]bool{}
	for _, g := range goals {
		for _, name := range []string{g.to, g.of} {
			c := cell{contestant: all[name], clients: g.clients, held: g.held}
			if name == "" || planned[c] {
				continue
			}
			planned[c] = true
			c.round, c.lasts = round, lasts
			cells = append(cells, c)
		}
	}
	return cells
}
