package regions

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Fence refuses to use a pool in a region if its rows and loan record have different versions. One of the two was restored without the other, and an
// address that is free here may be held elsewhere (docs/adr/0021).
func Fence(facts storage.GroupFacts) error {
	if !facts.Fenced {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "Pool %s cannot be used in region %q: its data there and its loan records come from different backups. Nothing was changed. Ask the operator to reconcile them.",
		facts.Pool.Ref(), facts.Pool.Place())
	e.RetryAfter = 10 * time.Second
	return e.Because(errFenced)
}

// errFenced is the cause in errors from Fence; another pool or another region may still work.
var errFenced = errors.New("the two epochs differ")

// IsFence reports whether a transaction failed because the versions in its region differ.
func IsFence(err error) bool { return errors.Is(err, errFenced) }

// loanMoved records in metrics the outcome when a block moves between regions. It counts an indeterminate commit as a failure; if the commit did take
// effect, the next stock check sees it.
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
