package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetClaim reads one claim.
func (s *Claims) GetClaim(ctx context.Context, project, name string) (ipam.Claim, error) {
	pass, key, remembered, err := s.EnterRemembered(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return ipam.Claim{}, err
	}
	c, _, err := s.findClaim(ctx, pass, key, remembered, name)
	return c, err
}

// findClaim reads a claim of a project, remembered or not. A claim that is found under a project's id is of the project of that name: neither
// id nor name changes, and no claim outlives its project. Where none is found, the name may belong to another project by now.
func (s *Claims) findClaim(ctx context.Context, pass tenancy.Pass, key storage.ProjectKey, remembered bool, name string) (ipam.Claim, storage.ProjectKey, error) {
	c, err := s.Store.ClaimGet(ctx, key, name)
	if !remembered || !ipam.IsCode(err, ipam.CodeNotFound) {
		return c, key, err
	}
	now, err := s.ProjectKey(ctx, pass)
	if err != nil {
		return c, key, err
	}
	if now.ID == key.ID {
		return c, key, notFoundClaim(key, name)
	}
	c, err = s.Store.ClaimGet(ctx, now, name)
	return c, now, err
}

func notFoundClaim(key storage.ProjectKey, name string) error {
	return ipam.Errorf(ipam.CodeNotFound, "Claim %s/%s was not found.", key.Name, name)
}

// DeleteClaim releases a claim at once: under ReclaimDelete its block is free when this returns; under ReclaimRetain the
// allocation stays without a claim. The claim and its allocation go in one transaction.
func (s *Claims) DeleteClaim(ctx context.Context, project, name string, r usecase.Request) error {
	pass, key, remembered, err := s.EnterRemembered(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return err
	}
	revision, now := ipam.NewID(), s.Now()
	event := trail.Attempt(ctx, now, key.ID, trail.KindClaim, name)
	var first, guess ipam.ID
	for round := range usecase.MaxRounds {
		var c ipam.Claim
		made := false
		if round == 0 {
			c, made = s.memory.takeClaim(key, name, r.IfMatch)
			guess = c.UID
		}
		if !made {
			meant := func(c ipam.Claim) bool {
				if !first.IsZero() {
					return c.UID == first
				}
				return c.UID == guess || guess.IsZero() || !c.CreatedAt.After(now) // what was remembered may have had a successor when we were asked, which is meant then
			}
			if c, key, err = s.findMeant(ctx, pass, key, remembered, name, r, meant); err != nil {
				return err
			}
			event.ProjectID, first = key.ID, c.UID
		}
		pool, err := s.poolOf(ctx, c)
		if err != nil {
			return err
		}
		_, err = s.join(ctx, pool, &member{ctx: ctx, key: key, claim: c, event: event, request: r, revision: revision})
		if _, conflict := storage.AsConflict(err); !conflict && !ipam.IsCode(err, ipam.CodeNotFound) { // gone with its pool: look again
			return err
		}
	}
	return storage.Contention(nil)
}

// findMeant reads the claim that is to be released. That it is not there is answered when that is durable: whoever releases takes it for done. So it is when
// there is a successor, which was not meant.
func (s *Claims) findMeant(ctx context.Context, pass tenancy.Pass, key storage.ProjectKey, remembered bool, name string, r usecase.Request, meant func(ipam.Claim) bool) (c ipam.Claim, found storage.ProjectKey, err error) {
	var gone error
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		gone = nil
		c, found, err = s.findClaim(ctx, pass, key, remembered, name)
		if err == nil {
			if err = r.IfMatch.Check(c.Revision); err == nil && !meant(c) {
				err = ipam.Errorf(ipam.CodeNotFound, "Claim %s was not found.", c.Ref())
			}
		}
		if ipam.IsCode(err, ipam.CodeNotFound) {
			gone, err = err, nil
		}
		return gone != nil && !r.DryRun, err
	})
	if err == nil {
		err = gone
	}
	return c, found, err
}

// poolOf is the pool of a claim, which may be remembered: its id and block, which are all that a release needs before its transaction reads
// the pool, never change.
func (s *Claims) poolOf(ctx context.Context, c ipam.Claim) (ipam.Pool, error) {
	if p, known := s.memory.pools.Get(c.PoolID); known {
		return storage.Placed(p, c.Region), nil
	}
	p, err := s.Store.PoolGetByID(ctx, c.PoolID)
	if err == nil {
		s.memory.pools.Add(c.PoolID, slim(p))
	}
	return storage.Placed(p, c.Region), err
}
