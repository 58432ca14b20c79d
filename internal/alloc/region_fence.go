package alloc

import (
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/twin"
)

// fence refuses to draw from, or give back to, a pool's rows in a region that are of another time than the record of what the region was lent:
// one of the two was restored without the other, and an address that is free here may be held elsewhere (docs/adr/0021).
func fence(facts GroupFacts) error {
	if !facts.Fenced || twin.NoEpoch {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "Pool %s cannot be used in region %q at the moment: its rows there are of another time than the record of its loans. Nothing was changed; the operator has to reconcile them.",
		facts.Pool.Ref(), facts.Pool.Place())
	e.RetryAfter = 10 * time.Second
	return e.Because(errFenced)
}

// errFenced is the cause of what fence refuses: another pool, or another region, may do.
var errFenced = errors.New("the two epochs differ")

func isFence(err error) bool { return errors.Is(err, errFenced) }
