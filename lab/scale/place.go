package scale

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// place is one operation's subject. Operations go to random places in a cell, as in a large installation.
type place struct {
	project string
	pool    ipam.Ref // for claims and reads
	bits    int      // length of the claimed blocks
	tight   ipam.Ref // has no block of tightBits
	atMost  int

	// An existing claim.
	claim   string
	near    ipam.Ref // its pool
	address netip.Addr
	// Pages of 100 start after this name or this address. Zero: at the beginning.
	afterName    string
	afterAddress netip.Addr
	alone        bool // only the claim is held: a page has one row
}

// inPage counts the claims on a page.
func (p place) inPage() int {
	if p.alone {
		return 1
	}
	return page
}

// layout describes a cell's content.
type layout struct {
	pick func(r *rand.Rand) place
	// run is the number of claims before their first release. The claims from one block share the cost of its split. 1 if each claim goes to another
	// pool.
	run int
	// anchor: one claim stays in the pool during the measurement, so that the pool does not count as unused.
	anchor bool
	count  []countCheck
}

// countCheck is a quick check of the loaded data, for cells that are too large for an audit each time.
type countCheck struct {
	what string
	sql  string
	want int64
}

// cursor returns the position after which a page begins, encoded as the API's own cursors (internal/alloc/paging/cursor.go). If that encoding
// changes, a list refuses this cursor.
func cursor(kind string, after any) (string, error) {
	at, err := json.Marshal(after)
	if err != nil {
		return "", err
	}
	box, err := json.Marshal(map[string]json.RawMessage{"k": json.RawMessage(`"` + kind + `"`), "a": at})
	return base64.RawURLEncoding.EncodeToString(box), err
}
