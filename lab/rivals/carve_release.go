package rivals

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/alloc/claims"
)

// releases is the number of prepared claims for each second of a measurement. It is more than two cores can release over HTTP.
const releases = 20_000

// openRelease measures releases of prepared claims. Clients release the oldest thousand first, and each thousand in random order.
func openRelease(ctx context.Context, db *database, c cell) (*session, error) {
	c.held = int(c.lasts.Seconds()*releases) + 1 // one more for the probe
	s, err := serveCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	order := shuffled(c.held, claims.MaxBatch)
	var next atomic.Int64
	return s.session(ctx, "claims", c, func(p *poster) *session {
		return &session{many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			n := int(next.Add(1)) - 1
			if n >= len(order) {
				return handed, errRanOut
			}
			answer, status, err := p.remove(ctx, client, "/"+heldName(order[n]))
			if err == nil && status != http.StatusNoContent {
				err = fmt.Errorf("a release was answered %d: %s", status, answer)
			}
			return handed, err
		}}
	})
}

// shuffled returns the numbers below n, shuffled within groups of atATime numbers. The order is the same in each run.
func shuffled(n, atATime int) []int {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: it has to be the same
	order := make([]int, 0, n)
	for from := 0; from < n; from += atATime {
		for _, i := range random.Perm(min(atATime, n-from)) {
			order = append(order, from+i)
		}
	}
	return order
}
