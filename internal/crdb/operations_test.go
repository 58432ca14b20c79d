package crdb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// operation is a use case that writes, for the tests with faults. Each run uses a new project. A run with a fault must write exactly as many rows as
// a run without one.
type operation struct {
	tx      string                                 // name of its transaction
	key     string                                 // Idempotency-Key; "": the use case accepts none
	prepare func(t *testing.T, h *house, p string) // prepares the project p for the request
	// do makes the request and returns the result that the caller gets.
	do func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error)
	// stored reads the stored state, which the caller's result must equal.
	stored func(ctx context.Context, svc *alloc.Service, p string) (any, error)
}

// request returns the request options of an operation. They are the same for every retry.
func (o operation) request() usecase.Request {
	if o.key == "" {
		return usecase.Request{}
	}
	return usecase.Request{Key: o.key, Fingerprint: [16]byte{1}}
}

func value[T any](r usecase.Result[T], err error) (any, error) { return r.Value, err }

func answer[T any](v T, err error) (any, error) { return v, err }

var errStillThere = errors.New("it is still there")

// gone makes the read of a deleted object a success.
func gone[T any](_ T, err error) (any, error) {
	switch {
	case ipam.IsCode(err, ipam.CodeNotFound):
		return nil, nil
	case err == nil:
		err = errStillThere
	}
	return nil, err
}

func none(err error) (any, error) { return nil, err }

func withPool(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := h.svc.CreatePool(admin(t), p, rootPool("pool", "10.0.0.0/24", ipam.Reservation{First: 1}), usecase.Request{})
	require.NoError(t, err)
}

func withClaim(policy ipam.ReclaimPolicy) func(*testing.T, *house, string) {
	return func(t *testing.T, h *house, p string) {
		t.Helper()
		withPool(t, h, p)
		c := claimOf("claim", p, "pool", 28)
		c.Spec.ReclaimPolicy = policy
		_, err := h.svc.CreateClaim(admin(t), p, c, usecase.Request{})
		require.NoError(t, err)
	}
}

func withRetained(t *testing.T, h *house, p string) {
	t.Helper()
	withClaim(ipam.ReclaimRetain)(t, h, p)
	require.NoError(t, h.svc.DeleteClaim(admin(t), p, "claim", usecase.Request{}))
}

// theOne returns the name of the project's only allocation for a claim. The claim may be bound or not.
func theOne(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (string, error) {
	page, err := svc.ListAllocations(ctx, p, paging.Filter{Purpose: ipam.PurposeClaim}, 10, "", r)
	if err == nil && len(page.Items) != 1 {
		err = fmt.Errorf("%d allocations", len(page.Items))
	}
	if err != nil {
		return "", err
	}
	return page.Items[0].ID.String(), nil
}

func batchOf(p string) []ipam.Claim {
	return []ipam.Claim{claimOf("a", p, "pool", 28), claimOf("b", p, "pool", 32), claimOf("c", p, "pool", 26)}
}

var operations = map[string]operation{
	"CreateClaim": {tx: "claim_group", key: "key", prepare: withPool,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return value(svc.CreateClaim(ctx, p, claimOf("claim", p, "pool", 28), r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"CreateClaimWithoutKey": {tx: "claim_group", prepare: withPool,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return value(svc.CreateClaim(ctx, p, claimOf("claim", p, "pool", 28), r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"PutClaim": {tx: "claim_group", prepare: withPool,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return value(svc.PutClaim(ctx, p, claimExact("claim", p, "pool", "10.0.0.64/28"), r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"CreateClaimOfRetained": {tx: "claim_rebind", key: "key", prepare: withRetained,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			ref, err := theOne(ctx, svc, p, usecase.Reading{})
			if err != nil {
				return nil, err
			}
			c := ipam.Claim{Metadata: ipam.Metadata{Name: "again"}, Spec: ipam.ClaimSpec{AllocationRef: ref, ReclaimPolicy: ipam.ReclaimRetain}}
			return value(svc.CreateClaim(ctx, p, c, r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return answer(svc.GetClaim(ctx, p, "again", usecase.Reading{}))
		}},
	"CreateClaimBatch": {tx: "claim_batch", key: "key", prepare: withPool,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return value(svc.CreateClaimBatch(ctx, p, batchOf(p), r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			page, err := svc.ListClaims(ctx, p, paging.Filter{}, 10, "", usecase.Reading{})
			return page.Items, err
		}},
	"PatchClaim": {tx: "claim_patch", prepare: withClaim(ipam.ReclaimDelete),
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return answer(svc.PatchClaim(ctx, p, "claim", r, func(c ipam.Claim) (ipam.Claim, error) {
				c.Labels, c.Spec.ReclaimPolicy = map[string]string{"new": "1"}, ipam.ReclaimRetain
				return c, nil
			}))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"DeleteClaim": {tx: "claim_group", prepare: withClaim(ipam.ReclaimDelete),
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return none(svc.DeleteClaim(ctx, p, "claim", r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			return gone(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"DeleteRetainedClaim": {tx: "claim_group", prepare: withClaim(ipam.ReclaimRetain),
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			return none(svc.DeleteClaim(ctx, p, "claim", r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			if _, err := theOne(ctx, svc, p, usecase.Reading{}); err != nil {
				return nil, err
			}
			return gone(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
		}},
	"DeleteAllocation": {tx: "allocation_delete", prepare: withRetained,
		do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
			ref, err := theOne(ctx, svc, p, usecase.Reading{})
			if err != nil {
				return nil, err
			}
			return none(svc.DeleteAllocation(ctx, p, ref, r))
		},
		stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
			_, err := theOne(ctx, svc, p, usecase.Reading{})
			if err == nil {
				return nil, errStillThere
			}
			return nil, nil
		}},
}
