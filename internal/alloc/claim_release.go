package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetClaim reads one claim.
func (s *Service) GetClaim(ctx context.Context, project, name string) (ipam.Claim, error) {
	_, key, err := s.enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return ipam.Claim{}, err
	}
	return s.store.ClaimGet(ctx, key, name)
}

// DeleteClaim releases a claim at once: under ReclaimDelete its block is free when this returns; under ReclaimRetain the
// allocation stays without a claim. The claim and its allocation go in one transaction.
func (s *Service) DeleteClaim(ctx context.Context, project, name string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return err
	}
	revision, now := ipam.NewID(), s.now()
	event := attempt(ctx, now, key.ID, kindClaim, name)
	var first ipam.ID
	for range maxRounds {
		c, err := s.store.ClaimGet(ctx, key, name)
		if err != nil {
			return err
		}
		if err := r.IfMatch.Check(c.Revision); err != nil {
			return err
		}
		if first.IsZero() {
			first = c.UID
		} else if first != c.UID { // what we were asked to delete is gone; its successor was not meant
			return ipam.Errorf(ipam.CodeNotFound, "Claim %s was not found.", c.Ref())
		}
		pool, err := s.store.PoolGetByID(ctx, c.PoolID)
		if err != nil {
			return err
		}
		_, err = s.join(ctx, pool, &member{ctx: ctx, key: key, claim: c, event: event, request: r, revision: revision})
		if _, conflict := asConflict(err); !conflict && !ipam.IsCode(err, ipam.CodeNotFound) { // gone with its pool: look again
			return err
		}
	}
	return contention(nil)
}
