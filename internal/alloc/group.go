package alloc

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// maxGroup bounds the members of one transaction, and with it its size and how long it holds its rows.
const maxGroup = 64

// groupDeadline bounds one group's transaction with all its attempts. It does not depend on any one member's deadline.
const groupDeadline = 15 * time.Second

// join adds a member to the pool's next group and waits for its outcome. The first to come starts at once; those that
// arrive while its transaction runs form the next group.
func (s *Service) join(ctx context.Context, pool ipam.Pool, m *member) (ipam.Claim, error) {
	if m.request.DryRun {
		s.runGroup(ctx, pool, []*member{m})
		return m.outcome, m.err
	}
	m.done = make(chan struct{})
	if s.lanes.enqueue(pool.UID, m) {
		go s.lead(pool) //nolint:gosec // G118: the leader serves other requests too and must outlive this one's context
	}
	select {
	case <-m.done:
		return m.outcome, m.err
	case <-ctx.Done():
		return ipam.Claim{}, ipam.Errorf(ipam.CodeDeadline,
			"The request took longer than its deadline. It may still take effect; repeat it with the same name or Idempotency-Key to find out.").Because(ctx.Err())
	}
}

// lead runs groups for a pool until nobody is waiting.
func (s *Service) lead(pool ipam.Pool) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), groupDeadline)
		release, err := s.lanes.acquire(ctx, pool.UID)
		members := s.lanes.dequeue(pool.UID, maxGroup)
		if len(members) == 0 {
			if err == nil {
				release()
			}
			cancel()
			return
		}
		if err != nil {
			finish(members, err)
		} else {
			s.runGroup(ctx, pool, members)
			release()
		}
		cancel()
	}
}

// runGroup gives every member an outcome. A member that cannot be served leaves; the others go on.
func (s *Service) runGroup(ctx context.Context, pool ipam.Pool, members []*member) {
	defer func() {
		if r := recover(); r != nil { // the arithmetic panics rather than lose address space
			finish(members, ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").
				Because(fmt.Errorf("panic in group: %v\n%s", r, debug.Stack())))
		}
	}()
	waiting := make([]*member, 0, len(members))
	for _, m := range members {
		if m.ctx.Err() != nil {
			m.finish(ipam.Claim{}, ipam.Errorf(ipam.CodeDeadline, "The request waited too long for its turn. Nothing was changed; repeat the request.").Because(m.ctx.Err()))
			continue
		}
		waiting = append(waiting, m)
	}
	waiting = onePerName(waiting)
	for round := 0; len(waiting) > 0; round++ {
		if round == maxRounds {
			finish(waiting, contention(nil))
			return
		}
		waiting = s.runRound(ctx, pool, waiting)
	}
}

// onePerName leaves one member for each claim name and each idempotency key: rows of one statement must not be about the same
// thing. The others look again, and find what the first one did.
func onePerName(members []*member) []*member {
	seen := make(map[string]bool, len(members))
	out := members[:0]
	for _, m := range members {
		project := m.key.ID.String()
		name, key := project+"/name/"+m.claim.Name, project+"/key/"+m.request.Key
		if seen[name] || m.request.Key != "" && seen[key] {
			m.finish(ipam.Claim{}, &Conflict{})
			continue
		}
		seen[name], seen[key] = true, true
		out = append(out, m)
	}
	return out
}

// runRound runs one transaction and answers the members that still have no outcome.
func (s *Service) runRound(ctx context.Context, pool ipam.Pool, members []*member) []*member {
	members, doubles := withoutDoubles(members)
	defer finish(doubles, &Conflict{}) // once the first has its outcome, the others look again and find it
	p, err := inTx(ctx, s, "claim_group", members[0].request.DryRun, func(ctx context.Context, tx Tx) (*groupPlan, error) {
		return s.groupTx(ctx, tx, pool, members)
	})
	if c, ok := asConflict(err); ok {
		return s.dropConflicts(ctx, members, c)
	}
	switch {
	case err == nil:
		return s.deliver(ctx, pool, members, p)
	case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
		return s.settleMembers(ctx, members)
	case retryLater(err) || len(members) == 1:
		finish(members, err)
		return nil
	default:
		// Something that only one of them can have caused: each alone, so that it harms nobody else.
		for _, m := range members {
			s.runGroup(ctx, pool, []*member{m})
		}
		return nil
	}
}

// deliver hands out the outcomes of a committed plan. A refusal is completed with the figures of now; if by now there is
// room again, the member goes into the next round instead of being told so.
func (s *Service) deliver(ctx context.Context, pool ipam.Pool, members []*member, p *groupPlan) []*member {
	var again, refused []*member
	var wishes []space.Wish
	for i, m := range members {
		switch {
		case (p.refused[i] || p.errs[i] != nil) && s.tookEffectLate(ctx, m):
		case p.refused[i]:
			refused, wishes = append(refused, m), append(wishes, p.wishes[i])
		default:
			m.finish(p.outcomes[i], p.errs[i])
		}
	}
	if len(refused) == 0 {
		return nil
	}
	stocks, err := s.store.Stocks(ctx, []Container{PoolContainer(pool)})
	if err != nil {
		finish(refused, err)
		return nil
	}
	stock := stocks[pool.UID]
	for i, m := range refused {
		largest, some := stock.LargestFree()
		switch w := wishes[i]; {
		case w.Exact.IsValid():
			m.finish(ipam.Claim{}, takenRefusal(ctx, s.store, pool, w.Exact, m.key))
		case some && largest <= w.Bits && !m.request.DryRun:
			again = append(again, m)
		default:
			m.finish(ipam.Claim{}, exhausted([]ipam.Pool{pool}, []ipam.Stock{stock}, w.Bits))
		}
	}
	return again
}
