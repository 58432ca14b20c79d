package main

import (
	"context"
	"regexp"
	"slices"
)

// A contestant is one way to hand something out.
type contestant struct {
	name    string
	kind    kind
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

// A cell is what is measured at a time: one contestant, so many clients, so many blocks held before.
type cell struct {
	contestant *contestant
	clients    int
	held       int
}

// A session is a contestant that is ready for the clients of its cell.
type session struct {
	// hand hands one out and answers its number: the block's in the pool, in blocks of its length, or the row's id. Each
	// client has a number of its own and calls it from one goroutine.
	hand func(ctx context.Context, client int) (uint64, error)
	// first is the lowest number that is free. Everything below is held.
	first uint64
	// retries is how often the contestant had to begin again, where it tells. It may be nil.
	retries func() int64
	// check looks at the data afterwards. It may be nil.
	check func(ctx context.Context) error
	close func() error
}

const (
	addressBits = 32
	networkBits = 24
	poolCIDR    = "10.0.0.0/8"
)

var (
	few  = []int{1, 8, 32}
	many = []int{1, 8, 32, 64}
	none = []int{0}
	held = []int{0, 10_000, 50_000}
)

func contestants() []*contestant {
	return []*contestant{
		{"INSERT", kindFloor, 0, many, none, openInsert},
		{"HTTP + INSERT", kindFloor, 0, many, none, openHTTPInsert},
		{"Carve, in process", kindCarve, addressBits, many, held, openCarve},
		{"Carve, HTTP", kindCarveHTTP, addressBits, many, held, openCarveHTTP},
		{"lock the pool row", kindRival, addressBits, few, held, openLockRow},
		{"one CTE", kindRival, addressBits, few, held, openOneCTE},
		{"go-ipam AcquireIP", kindRival, addressBits, few, held, openAcquireIP},
		{"Carve /24, in process", kindCarve, networkBits, few, held, openCarve},
		{"go-ipam AcquireChildPrefix", kindRival, networkBits, few, held, openAcquireChild},
	}
}

// plan is the cells in the order in which they are measured: contestants innermost.
func plan(only *regexp.Regexp) []cell {
	var cells []cell
	for _, h := range held {
		for _, n := range many {
			for _, c := range contestants() {
				// 64 clients are for what is compared with the floors, in an empty pool.
				if only.MatchString(c.name) && slices.Contains(c.held, h) && slices.Contains(c.clients, n) && (h == 0 || n < 64) {
					cells = append(cells, cell{c, n, h})
				}
			}
		}
	}
	return cells
}
