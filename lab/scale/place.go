package scale

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// place is what one operation is about. Operations go to random places of a cell, as the callers of a large installation do.
type place struct {
	project string
	pool    ipam.Ref // is claimed from, and looked at
	bits    int      // length of the blocks that are claimed
	tight   ipam.Ref // has no block of tightBits
	atMost  int

	// Something that is held already.
	claim   string
	near    ipam.Ref // the pool it is in
	address netip.Addr
	// Where pages of 100 begin: after this name, and after this address. Zero: at the beginning.
	afterName    string
	afterAddress netip.Addr
	alone        bool // nothing but the claim is held: a page has one row
}

// inPage is how many claims a page has.
func (p place) inPage() int {
	if p.alone {
		return 1
	}
	return page
}

// layout says what a cell holds.
type layout struct {
	pick func(r *rand.Rand) place
	// run is how many claims are made before the first of them is released: the cost of splitting a block is shared by the claims
	// that come out of it. 1 where each claim goes to another pool.
	run int
	// anchor: one claim is held in the pool while it is measured, so that it is not taken for a pool that was never used.
	anchor bool
	count  []countCheck
}

// countCheck is a cheap check of what was loaded, for cells that are too large to be audited each time.
type countCheck struct {
	what string
	sql  string
	want int64
}

// cursor is the place in a list after which a page begins, as the API's own cursors say it (internal/alloc/paging/cursor.go). A list
// that would not take it any more would refuse it.
func cursor(kind string, after any) (string, error) {
	at, err := json.Marshal(after)
	if err != nil {
		return "", err
	}
	box, err := json.Marshal(map[string]json.RawMessage{"k": json.RawMessage(`"` + kind + `"`), "a": at})
	return base64.RawURLEncoding.EncodeToString(box), err
}
