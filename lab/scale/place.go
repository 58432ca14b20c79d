package scale

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// place selects the objects that one operation uses. Operations use random places in a cell, as in a large installation.
type place struct {
	project string
	pool    ipam.Ref // for claims and reads
	bits    int      // length of the claimed blocks
	tight   ipam.Ref // a pool that has no block of length tightBits
	atMost  int

	// An existing claim.
	claim   string
	near    ipam.Ref // its pool
	address netip.Addr
	// A page of 100 items starts after this name or this address. A zero value means the first page.
	afterName    string
	afterAddress netip.Addr
	alone        bool // the pool has no other claim, so a page has one row
}

// inPage returns the number of claims on a page.
func (p place) inPage() int {
	if p.alone {
		return 1
	}
	return page
}

// layout describes a cell's content.
type layout struct {
	pick func(r *rand.Rand) place
	// run is the number of claims to make before the first release. Claims that are made in a row share the cost of splitting a block. It is 1 if
	// each claim goes to another pool.
	run int
	// anchor means that one claim stays in the pool during the measurement. Otherwise the pool would count as unused between the claims.
	anchor bool
	count  []countCheck
}

// countCheck is a quick check of the loaded data. It replaces the audit in cells that are too large for it.
type countCheck struct {
	what string
	sql  string
	want int64
}

// cursor returns the position after which a page begins, in the encoding of the API's own cursors (internal/alloc/paging/cursor.go). If that encoding
// changes, the list operations refuse this cursor.
func cursor(kind string, after any) (string, error) {
	at, err := json.Marshal(after)
	if err != nil {
		return "", err
	}
	box, err := json.Marshal(map[string]json.RawMessage{"k": json.RawMessage(`"` + kind + `"`), "a": at})
	return base64.RawURLEncoding.EncodeToString(box), err
}
