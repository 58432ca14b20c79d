package claims

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type releaser struct {
	*reader

	groups *groups
	cache  Cache
}

// DeleteClaim releases a claim at once. One transaction deletes the claim and its allocation. Under ReclaimDelete without a cool-down, the block is
// free when DeleteClaim returns. Under ReclaimRetain, the allocation stays without a claim.
func (s *releaser) DeleteClaim(ctx context.Context, project, name string, r usecase.Request) error {
	pass, key, remembered, err := s.EnterCached(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return err
	}
	revision, asked := ipam.NewID(), s.Latest()
	event := trail.Attempt(ctx, s.Now(), key.ID, trail.KindClaim, name)
	var first, guess ipam.ID
	meant := func(c ipam.Claim) bool {
		if !first.IsZero() {
			return c.UID == first
		}
		return c.UID == guess || guess.IsZero() || !c.CreatedAt.After(asked) // otherwise the claim is newer than the request
	}
	_, err = usecase.RetryConflicts(func(round int) (c ipam.Claim, err error) {
		made := false
		if round == 0 {
			c, made = s.cache.takeClaim(key, name, r.IfMatch)
			guess = c.UID
		}
		if !made {
			if c, key, err = s.findToRelease(ctx, pass, key, remembered, name, r, meant); err != nil {
				return c, err
			}
			event.ProjectID, first = key.ID, c.UID
		}
		if c.Consumers > 0 {
			return c, Used(c)
		}
		return c, s.release(ctx, &order{key: key, request: r, claim: c, event: event, revision: revision})
	})
	return err
}

// release releases a claim that this request has read, or that this server has cached. If the claim or its pool is gone, release returns a
// *storage.Conflict. The caller then reads the claim again, because a cached object must not decide a refusal. A missing pool means a missing claim,
// because a pool outlives its claims.
func (s *releaser) release(ctx context.Context, o *order) error {
	pool, err := s.poolOf(ctx, o.claim)
	if err == nil {
		_, err = s.groups.join(ctx, pool, o)
	}
	if ipam.IsCode(err, ipam.CodeNotFound) {
		return &storage.Conflict{}
	}
	return err
}

// Used returns the refusal to release a claim that consumers use.
func Used(c ipam.Claim) error {
	e := ipam.Errorf(ipam.CodeInUse, "Claim %s is used by %s. Detach or end every consumer first.",
		c.Ref(), usecase.CountOf(int64(c.Consumers), "consumer"))
	e.Figures.Consumers = new(int64(c.Consumers))
	return e
}

// ReleaseUnused releases a claim in the transaction that detaches its last consumer. If the claim has changed since it was read, it returns a
// *storage.Conflict. The block cools down for the claim's cool-down or for minCooldown, whichever is longer.
func (s *releaser) ReleaseUnused(ctx context.Context, key storage.ProjectKey, c ipam.Claim, cause ipam.ReleaseCause, minCooldown time.Duration, event ipam.Event, r usecase.Request,
) error {
	c.ReuseAfter = max(c.ReuseAfter, minCooldown)
	return s.release(ctx, &order{key: key, request: r, claim: c, event: event, revision: ipam.NewID(), because: cause})
}

// ForgetClaim removes a claim from the cache after another part of this server has changed the claim.
func (s *releaser) ForgetClaim(key storage.ProjectKey, name string) { s.cache.removeClaim(key, name) }

// ReleaseAsRead releases a claim that was read a moment ago. If cause names the claim's only consumer, the release also removes that consumer's
// attachment. If the claim has changed since, it is not released.
func (s *releaser) ReleaseAsRead(ctx context.Context, key storage.ProjectKey, c ipam.Claim, cause ipam.ReleaseCause) error {
	if c.Consumers > 0 && !cause.IsSet() {
		return Used(c)
	}
	event, revision := trail.Attempt(ctx, s.Now(), key.ID, trail.KindClaim, c.Name), ipam.NewID()
	s.cache.removeClaim(key, c.Name)
	_, err := usecase.RetryConflicts(func(round int) (none struct{}, err error) {
		if round > 0 {
			now, err := s.Store.ClaimGet(ctx, key, c.Name)
			switch {
			case err != nil:
				return none, err
			case now.UID != c.UID:
				return none, notFoundClaim(key, c.Name)
			case now.Revision != c.Revision:
				return none, ChangedSince(c)
			}
		}
		return none, s.release(ctx, &order{key: key, claim: c, event: event, revision: revision, because: cause})
	})
	return err
}

// ChangedSince returns the refusal to release a claim that has changed since it was read or shown.
func ChangedSince(c ipam.Claim) error {
	return ipam.Errorf(ipam.CodePreconditionFailed, "Claim %s has changed since it was read.", c.Ref())
}

// findToRelease reads the claim to release. Only a durable absence counts as not found, because the client then considers the release done. A newer
// claim under the same name also counts as not found.
func (s *releaser) findToRelease(ctx context.Context, pass tenancy.Pass, key storage.ProjectKey, remembered bool, name string, r usecase.Request, meant func(ipam.Claim) bool) (c ipam.Claim, found storage.ProjectKey, err error) {
	var gone error
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		gone = nil
		c, found, err = s.find(ctx, s.Store, pass, key, remembered, name)
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

// poolOf returns a claim's pool, possibly from the cache. A cached pool is enough to begin a release, because the release needs only the pool's id
// and block. These never change, and the transaction reads the pool again.
func (s *releaser) poolOf(ctx context.Context, c ipam.Claim) (ipam.Pool, error) {
	if p, known := s.cache.pools.Get(c.PoolID); known {
		return storage.Placed(p, c.Region), nil
	}
	p, err := s.Store.PoolGetByID(ctx, c.PoolID)
	if err == nil {
		s.cache.pools.Add(c.PoolID, slim(p))
	}
	return storage.Placed(p, c.Region), err
}
