package rivals

import (
	"context"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/claims"
)

// A contestant is one way to hand something out, or to have it back.
type contestant struct {
	name    string
	kind    kind
	task    task
	each    int // how many it hands out in a call
	bits    int // length of the blocks it hands out; 0: it hands out rows
	clients []int
	held    []int
	open    func(context.Context, *database, cell) (*session, error)
}

type kind string

const (
	kindCarve     kind = "carve"
	kindCarveHTTP kind = "carve-http"
	kindRival     kind = "rival"
	kindFloor     kind = "floor"
)

// task is what a contestant does. Those with the same task stand beside each other.
type task string

const (
	taskOne     task = "one"     // hands out one a call
	taskBatch   task = "batch"   // hands out many a call, all or none
	taskRelease task = "release" // takes one back
	taskDeny    task = "deny"    // says that there is none left
)

// A cell is what is measured at a time: one contestant, so many clients, so many blocks held before.
type cell struct {
	contestant *contestant
	clients    int
	held       int
	lasts      time.Duration // how long clients will work, for what must be prepared for each operation
}

// A session is a contestant that is ready for the clients of its cell.
type session struct {
	// hand hands one out and answers its number: the block's in the pool, in blocks of its length, or the row's id. Each
	// client has a number of its own and calls it from one goroutine.
	hand func(ctx context.Context, client int) (uint64, error)
	// many is in the place of hand where a call hands out more than one, or none. It appends their numbers to handed.
	many func(ctx context.Context, client int, handed []uint64) ([]uint64, error)
	// first is the lowest number that is free. Everything below is held.
	first uint64
	// retries is how often the contestant had to begin again, where it tells. It may be nil.
	retries func() int64
	// check looks at the data afterwards. It may be nil.
	check func(ctx context.Context) error
	close func() error
}

// call is one call of a client. It appends what was handed out to handed.
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

const (
	addressBits = 32
	networkBits = 24
	poolCIDR    = "10.0.0.0/8"
)

var (
	couple = []int{1, 8}
	busy   = []int{32}
	few    = []int{1, 8, 32}
	many   = []int{1, 8, 32, 64}
	none   = []int{0}
	held   = []int{0, 10_000, 50_000}
)

func contestants() []*contestant {
	return []*contestant{
		{"INSERT", kindFloor, taskOne, 1, 0, many, none, openInsert},
		{"HTTP + INSERT", kindFloor, taskOne, 1, 0, many, none, openHTTPInsert},
		{"Carve, in process", kindCarve, taskOne, 1, addressBits, many, held, openCarve},
		{"Carve, HTTP", kindCarveHTTP, taskOne, 1, addressBits, many, held, openCarveHTTP},
		{"Carve, HTTP, release", kindCarveHTTP, taskRelease, 1, addressBits, busy, none, openRelease},
		{"Carve, HTTP, deny", kindCarveHTTP, taskDeny, 1, addressBits, busy, none, openDeny},
		{"100-row INSERT", kindFloor, taskBatch, insertRows, 0, couple, none, openInsertMany},
		{"Carve, batch of 1,000", kindCarve, taskBatch, claims.MaxBatch, addressBits, couple, none, openCarveBatch},
		{"Carve, HTTP, batch of 1,000", kindCarveHTTP, taskBatch, claims.MaxBatch, addressBits, couple, none, openCarveHTTPBatch},
		{"lock the pool row", kindRival, taskOne, 1, addressBits, few, held, openLockRow},
		{"one CTE", kindRival, taskOne, 1, addressBits, few, held, openOneCTE},
		{"go-ipam AcquireIP", kindRival, taskOne, 1, addressBits, few, held, openAcquireIP},
		{"Carve /24, in process", kindCarve, taskOne, 1, networkBits, few, held, openCarve},
		{"go-ipam AcquireChildPrefix", kindRival, taskOne, 1, networkBits, few, held, openAcquireChild},
	}
}

// plan is the cells in the order in which they are measured: contestants innermost.
func plan(o options) []cell {
	var cells []cell
	for _, h := range held {
		for _, n := range many {
			for _, c := range contestants() {
				// 64 clients are for what is compared with the floors, in an empty pool.
				asked := o.only.MatchString(c.name) && (len(o.at) == 0 || o.at[n]) && (len(o.with) == 0 || o.with[h])
				if asked && slices.Contains(c.held, h) && slices.Contains(c.clients, n) && (h == 0 || n < 64) {
					cells = append(cells, cell{c, n, h, o.warm + o.time})
				}
			}
		}
	}
	return cells
}
