package crdb_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// seen calls a function after the first read that finds a claim, before the reader continues.
type seen struct {
	storage.Store
	once sync.Once
	then func()
}

func (s *seen) ClaimLookup(ctx context.Context, q storage.ClaimQuery) (storage.ClaimFacts, error) {
	facts, err := s.Store.ClaimLookup(ctx, q)
	if facts.Claim != nil || facts.StoredResponse != nil {
		s.once.Do(s.then)
	}
	return facts, err
}

// pairWithUndurableClaim returns a pair whose primary shows a claim that the standby does not have yet.
func pairWithUndurableClaim(t *testing.T) (*pair, ipam.Claim) {
	t.Helper()
	p := newPair(t, func(o *crdb.Options) { o.MaxConnections = 16 })
	p.createPool(t, rootPool("pool", "10.0.0.0/24"))
	p.Stall()
	result := make(chan error, 1)
	go func() {
		result <- errOf(p.svc.CreateClaim(within(t, 30*time.Second), project, claimOf("claim", project, "pool", 32), keyed("key")))
	}()
	require.NoError(t, p.AwaitWaiting(admin(t), 1))
	p.cancelWaits(t)
	require.Error(t, <-result, "its own look at what it did waits, in vain")
	c, err := p.svc.GetClaim(admin(t), project, "claim", usecase.Reading{})
	require.NoError(t, err)
	return p, c
}

// repeats contains all requests by which a client learns that a claim exists.
var repeats = map[string]func(ctx context.Context, svc *alloc.Service) (usecase.Result[ipam.Claim], error){
	"put": func(ctx context.Context, svc *alloc.Service) (usecase.Result[ipam.Claim], error) {
		return svc.PutClaim(ctx, project, claimOf("claim", project, "pool", 32), usecase.Request{})
	},
	"key": func(ctx context.Context, svc *alloc.Service) (usecase.Result[ipam.Claim], error) {
		return svc.CreateClaim(ctx, project, claimOf("claim", project, "pool", 32), keyed("key"))
	},
	"name": func(ctx context.Context, svc *alloc.Service) (usecase.Result[ipam.Claim], error) {
		return svc.CreateClaim(ctx, project, claimOf("claim", project, "pool", 32), usecase.Request{})
	},
}

// A write on the new primary does not confirm a read on the old primary.
func TestReadsBeforeAFailoverAreRepeatedAfterIt(t *testing.T) {
	t.Parallel()
	for name, repeat := range repeats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, lost := pairWithUndurableClaim(t)
			failed := make(chan struct{})
			store := &seen{Store: p.store, then: func() {
				defer close(failed)
				require.NoError(t, p.KillPrimary(admin(t)))
				require.NoError(t, p.Promote(admin(t)))
			}}
			r, err := repeat(admin(t), alloc.New(store, alloc.Options{Region: region, Webhooks: hooked}))
			<-failed
			requireRemade(t, p, lost, r, err)
		})
	}
}

// The primary is killed while the COMMIT that confirms a read waits for the standby.
func TestDurabilityBarrierEndedByAFailoverRetriesTheRead(t *testing.T) {
	t.Parallel()
	p, lost := pairWithUndurableClaim(t)
	before, err := p.Waiting(admin(t))
	require.NoError(t, err)
	var r usecase.Result[ipam.Claim]
	done := make(chan struct{})
	ctx := admin(t)
	go func() {
		defer close(done)
		r, err = repeats["put"](ctx, p.svc)
	}()
	require.NoError(t, p.AwaitWaiting(admin(t), before+1))
	killed := time.Now()
	require.NoError(t, p.KillPrimary(admin(t)))
	require.NoError(t, p.Promote(admin(t)))
	away := time.Since(killed)
	<-done
	if ipam.IsCode(err, ipam.CodeOutcomeUnknown) && away > time.Second { // a request retries for about three seconds; after that, its caller must retry
		r, err = repeats["put"](ctx, p.svc)
	}
	requireRemade(t, p, lost, r, err)
}

// requireRemade requires that the result after a failover is the claim on the new primary, and not the lost claim.
func requireRemade(t *testing.T, p *pair, lost ipam.Claim, r usecase.Result[ipam.Claim], err error) {
	t.Helper()
	require.NoError(t, err, "it is made anew")
	require.NotEqual(t, lost.UID, r.Value.UID)
	got, err := newHouse(t, p.StandbyDSN()).svc.GetClaim(admin(t), project, "claim", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, r.Value.UID, got.UID)
}

// A conflict of names is reported only when the other claim is durable.
func TestNameConflictIsReportedOnlyWhenDurable(t *testing.T) {
	t.Parallel()
	p, _ := pairWithUndurableClaim(t)
	for name, create := range map[string]func(ctx context.Context) error{
		"claim": func(ctx context.Context) error {
			return errOf(p.svc.CreateClaim(ctx, project, claimOf("claim", project, "pool", 32), usecase.Request{}))
		},
		"batch": func(ctx context.Context) error {
			return errOf(p.svc.CreateClaimBatch(ctx, project, []ipam.Claim{claimOf("claim", project, "pool", 32)}, usecase.Request{}))
		},
	} {
		err := create(p.untilOneWaits(t))
		require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%s: %v", name, err)
	}
	p.Resume()
	err := errOf(p.svc.CreateClaim(admin(t), project, claimOf("claim", project, "pool", 32), usecase.Request{}))
	require.True(t, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
}
