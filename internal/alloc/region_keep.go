package alloc

import (
	"context"
	"errors"
	"fmt"

	"github.com/carve-ipam/carve/internal/ipam"
)

// servedPage is how many pools KeepStocks reads at once.
const servedPage = 200

// KeepStocks looks after what this server's region has of the pools that are at home elsewhere: it borrows where stock is short, before a claim has to wait for
// it, and gives back what has lain idle for long. It answers how many blocks were moved. Each pool costs two probes, however large or full it is. It can run on
// several servers at once: of those who find the same, one moves a block.
func (s *Service) KeepStocks(ctx context.Context) (moved int, err error) {
	var errs []error
	away := map[string]bool{} // homes that could not be reached: the next run tries them again
	for after := (ipam.ID{}); ; {
		pools, err := s.store.PoolsServing(ctx, s.region, after, servedPage)
		if err != nil {
			return moved, errors.Join(append(errs, err)...)
		}
		for _, p := range pools {
			after = p.UID
			if p.Region == s.region || away[p.Region] {
				continue
			}
			did, err := s.keepStock(ctx, p.In(s.region))
			if away[p.Region] = tooFar(err); away[p.Region] || err != nil && !retryLater(err) {
				errs = append(errs, fmt.Errorf("pool %s, at home in %s: %w", p.Ref(), p.Region, err))
			}
			moved += did
		}
		if len(pools) < servedPage {
			return moved, errors.Join(errs...)
		}
	}
}

// tooFar reports whether a home did not answer, which is to be told, and is not asked again for the other pools of the same run.
func tooFar(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || ipam.IsCode(err, ipam.CodeDeadline) || ipam.IsCode(err, ipam.CodeUnavailable) && !isFence(err)
}

// keepStock moves one block at most.
func (s *Service) keepStock(ctx context.Context, p ipam.Pool) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, groupDeadline)
	defer cancel()
	records, err := s.store.PoolRegions(ctx, []ipam.ID{p.UID})
	if err != nil {
		return 0, err
	}
	need := usual(p)
	for _, rec := range records[p.UID] {
		if rec.Region != p.At {
			continue
		}
		room, err := s.store.RoomIn(ctx, []RoomQuery{{Container: PoolContainer(p), Bits: lowWater(p.Block, rec, need)}})
		if err != nil {
			return 0, err
		}
		if !room[p.UID] {
			return count(s.lend(ctx, p, p.At, need, false))
		}
		if rec.Loan >= 0 && s.now().Sub(rec.LoanedAt) >= 2*s.runway {
			return count(s.recall(ctx, p, p.At, idle(need)))
		}
	}
	return 0, nil
}

func count(did bool, err error) (int, error) {
	if did {
		return 1, err
	}
	return 0, err
}
