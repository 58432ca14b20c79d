package claims

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// resolveCommit reads back each member in a group after a COMMIT with an unknown result. A member binds or releases one claim. If a member took
// effect, resolveCommit finishes it. The other members go into the next round with the same ids. resolveCommit has its own time limit, because the
// group's time limit is often nearly over.
func (s *groups) resolveCommit(ctx context.Context, members []*member) []*member {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usecase.ReadBackLimit)
	defer cancel()
	var done []bool
	var claims []ipam.Claim
	err := s.Durably(ctx, func(ctx context.Context) (found bool, err error) {
		done, claims = make([]bool, len(members)), make([]ipam.Claim, len(members))
		for i, m := range members {
			if claims[i], done[i], err = s.committed(ctx, m); err != nil {
				return false, err
			}
			found = found || done[i]
		}
		return found, nil
	})
	if err != nil {
		finish(members, storage.OutcomeUnknown(err))
		return nil
	}
	var again []*member
	for i, m := range members {
		if done[i] {
			m.finish(claims[i], nil)
			continue
		}
		m.commitUnknown = true
		again = append(again, m)
	}
	return again
}

// committed reads back whether a member's request has taken effect.
func (s *groups) committed(ctx context.Context, m *member) (ipam.Claim, bool, error) {
	if !m.binds() {
		released, err := s.released(ctx, m.order)
		return m.claim, released, err
	}
	got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, m.key, m.claim.Name))
	return got, found && got.UID == m.claim.UID, err
}

// released searches for this release's history row. A missing claim is not enough, because another request may have released the claim.
func (s *groups) released(ctx context.Context, o *order) (bool, error) {
	const page = 100 // the number of earlier holds on this block to read; usually the claim's own hold is the only one
	owner := storage.ProjectKey{ID: o.claim.PoolProjectID, Name: o.claim.Pool.Project}
	for before := (storage.HistoryCursor{}); ; {
		ended, err := s.Store.HistoryList(ctx, owner, []netip.Prefix{o.claim.Block}, before, page)
		if err != nil {
			return false, err
		}
		for _, h := range ended {
			if h.ID == o.revision || h.Until.Before(o.claim.Allocation().Since) {
				return h.ID == o.revision, nil
			}
			before = storage.HistoryCursor{Until: h.Until, ID: h.ID}
		}
		if len(ended) < page {
			return false, nil
		}
	}
}

// committedLate finishes a member that is refused because of its own earlier COMMIT. The COMMIT took effect after resolveCommit had read the member
// back as absent.
func (s *groups) committedLate(ctx context.Context, m *member) bool {
	if !m.commitUnknown {
		return false
	}
	var got ipam.Claim
	found, done := false, false
	err := s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		got, done, err = s.committed(ctx, m)
		found = found || done
		return done, err
	})
	if !found || err == nil && !done {
		return false
	}
	m.finish(got, err)
	return true
}

// dropConflicts removes the members that a conflict is about. Their rows exist already (create) or are gone (release). These members look up their
// claims again.
func (s *groups) dropConflicts(ctx context.Context, members []*member, c *storage.Conflict) []*member {
	rest := make([]*member, 0, len(members))
	for _, m := range members {
		switch {
		case !m.conflictsWith(c):
			rest = append(rest, m)
		case !s.committedLate(ctx, m):
			m.finish(ipam.Claim{}, c)
		}
	}
	// The conflict is about no member. This cannot happen, but a loop for ever must be impossible.
	if len(rest) == len(members) {
		finish(rest, storage.Contention(c))
		return nil
	}
	return rest
}

// regionError returns the error for a claim if the region is not yet recorded for its project. The other members do not wait for the record.
func (m *member) regionError(u *storage.RegionNotRecorded) error {
	if !m.binds() || !slices.Contains(u.Projects, m.key.ID) {
		return nil
	}
	return &storage.RegionNotRecorded{Projects: []ipam.ID{m.key.ID}, Region: u.Region}
}

// lockError returns the error for a member if another transaction exclusively holds the lock on the member's project. The member then waits for that
// lock, and does not hold the pool's lock meanwhile.
func (m *member) lockError(o *storage.LockBusy) error {
	if m.key.ID != o.ID {
		return nil
	}
	return o
}
