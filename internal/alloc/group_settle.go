package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// settleMembers reads back each member after a COMMIT whose outcome is unknown: those that took effect are done, the
// others go into the next round with the same ids. It has its own time: the group's is often up just then.
func (s *Service) settleMembers(ctx context.Context, members []*member) []*member {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackLimit)
	defer cancel()
	var again, made []*member
	var claims []ipam.Claim
	for _, m := range members {
		switch got, done, err := s.tookEffect(ctx, m); {
		case err != nil:
			m.finish(ipam.Claim{}, outcomeUnknown(err))
		case done:
			made, claims = append(made, m), append(claims, got)
		default:
			m.unsure = true
			again = append(again, m)
		}
	}
	if len(made) == 0 {
		return again
	}
	err := s.durable(ctx)
	for i, m := range made {
		m.finish(claims[i], err)
	}
	return again
}

// tookEffect reads back whether what the member asked for has happened.
func (s *Service) tookEffect(ctx context.Context, m *member) (ipam.Claim, bool, error) {
	got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, m.key, m.claim.Name))
	own := found && got.UID == m.claim.UID
	if m.create {
		return got, own, err
	}
	return m.claim, !own, err
}

// tookEffectLate finishes a member that is refused after an unknown outcome if what refuses it is its own first COMMIT,
// which landed after it had been looked for.
func (s *Service) tookEffectLate(ctx context.Context, m *member) bool {
	if !m.unsure {
		return false
	}
	got, done, err := s.tookEffect(ctx, m)
	if err != nil || !done {
		return false
	}
	m.finish(got, s.durable(ctx))
	return true
}

// dropConflicts takes out the members whose rows exist already (create) or are gone (release): they look again.
func (s *Service) dropConflicts(ctx context.Context, members []*member, c *Conflict) []*member {
	rest := make([]*member, 0, len(members))
	for _, m := range members {
		switch {
		case !c.names(m):
			rest = append(rest, m)
		case !s.tookEffectLate(ctx, m):
			m.finish(ipam.Claim{}, c)
		}
	}
	if len(rest) == len(members) { // about none of them: cannot be, and must not go round for ever
		finish(rest, contention(c))
		return nil
	}
	return rest
}
