package regions

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Fence refuses to use a pool in a region if the region's rows and its loan record have different versions. Different versions mean that the rows or
// the record were restored from a backup without the other. An address that is free here may then be held in another region (docs/adr/0021).
func Fence(facts storage.GroupFacts) error {
	if !facts.Fenced {
		return nil
	}
	e := ipam.Errorf(ipam.CodeUnavailable, "Pool %s cannot be used in region %q: its data there and its loan records come from different backups. Nothing was changed. Ask the operator to reconcile them.",
		facts.Pool.Ref(), facts.Pool.Place())
	e.RetryAfter = 10 * time.Second
	return e.WithCause(errFenced)
}

// errFenced is the cause in Fence's errors. Another pool or another region may still work.
var errFenced = errors.New("the two epochs differ")

// IsFence reports whether a transaction failed because the two versions in its region differ.
func IsFence(err error) bool { return errors.Is(err, errFenced) }

// loanMoved records in metrics whether a block moved between two regions. It counts a COMMIT with an unknown result as a failure. If that COMMIT did
// take effect, the next check of the region's free blocks finds the moved block.
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
