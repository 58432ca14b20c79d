package regions

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Fence refuses to draw from, or give back to, a pool's rows in a region that are of another time than the record of what the region was lent:
// one of the two was restored without the other, and an address that is free here may be held elsewhere (docs/adr/0021).
func Fence(facts storage.GroupFacts) error {
	if !facts.Fenced {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "Pool %s cannot be used in region %q at the moment: its rows there are of another time than the record of its loans. Nothing was changed; the operator has to reconcile them.",
		facts.Pool.Ref(), facts.Pool.Place())
	e.RetryAfter = 10 * time.Second
	return e.Because(errFenced)
}

// errFenced is the cause of what fence refuses: another pool, or another region, may do.
var errFenced = errors.New("the two epochs differ")

// IsFence reports whether a transaction was refused because the epochs of its region differ.
func IsFence(err error) bool { return errors.Is(err, errFenced) }

// loanMoved tells what came of a move of a block between regions. An outcome that is not known is a failure: if it took effect after all, the next look
// at the stocks finds it so.
func (s *mover) loanMoved(ctx context.Context, op string, moved bool, err error) {
	outcome := "nothing"
	switch {
	case IsFence(err):
		outcome = "fenced"
	case err != nil:
		outcome = "failed"
	case moved:
		outcome = "moved"
	}
	s.Metrics.LoanMoved(ctx, strings.TrimPrefix(op, "region_"), outcome)
}
