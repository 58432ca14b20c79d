package crdb_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// classOf returns an IPv4 class with blocks of 16 addresses. A released block cools down for an hour.
func classOf(name string, more ...func(*ipam.ClassSpec)) ipam.Class {
	c := ipam.Class{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClassSpec{
		Family: ipam.IPv4, DefaultPrefixLength: new(28), ReuseAfter: new(time.Hour),
	}}
	for _, f := range more {
		f(&c.Spec)
	}
	c.Spec = c.Spec.WithDefaults()
	return c
}

func isDefault(s *ipam.ClassSpec) { s.IsDefault = true }

// perZone makes a class scoped: each project gets one pool for each zone.
func perZone(s *ipam.ClassSpec) {
	s.PoolPer, s.PoolPrefixLength = []string{ipam.ScopeProject, "zone"}, new(26)
}

// byClass returns a claim on a class.
func byClass(name, class string) ipam.Claim {
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{ClassName: class, Scope: map[string]string{"zone": "a"}}}
}

// withClass returns a function that prepares a class with a pool, and a default class.
func withClass(more ...func(*ipam.ClassSpec)) func(*testing.T, *house, string) {
	return func(t *testing.T, h *house, p string) {
		t.Helper()
		for _, c := range []ipam.Class{classOf("class", more...), classOf("first", isDefault)} {
			_, err := h.svc.CreateClass(admin(t), p, c, false, usecase.Request{})
			require.NoError(t, err)
		}
		pool := rootPool("pool", "10.0.0.0/24")
		pool.Spec.ClassNames = []string{"class"}
		_, err := h.svc.CreatePool(admin(t), p, pool, usecase.Request{})
		require.NoError(t, err)
	}
}

func withServed(t *testing.T, h *house, p string) {
	t.Helper()
	withClass()(t, h, p)
	_, err := h.svc.CreateClaim(admin(t), p, byClass("claim", "class"), usecase.Request{})
	require.NoError(t, err)
}

func withCooling(t *testing.T, h *house, p string) {
	t.Helper()
	withServed(t, h, p)
	require.NoError(t, h.svc.DeleteClaim(admin(t), p, "claim", usecase.Request{}))
}

func init() {
	theClass := func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
		return answer(svc.GetClass(ctx, p, "class", usecase.Reading{}))
	}
	theClaim := func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
		return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
	}
	claim := func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
		return value(svc.CreateClaim(ctx, p, byClass("claim", "class"), r))
	}
	maps.Copy(operations, map[string]operation{
		"CreateClass": {tx: "class_create", key: "key", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreateClass(ctx, p, classOf("class", isDefault), false, r))
			},
			stored: theClass},
		"MoveDefaultClass": {tx: "class_create", prepare: func(t *testing.T, h *house, p string) {
			t.Helper()
			_, err := h.svc.CreateClass(admin(t), p, classOf("first", isDefault), false, usecase.Request{})
			require.NoError(t, err)
		},
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreateClass(ctx, p, classOf("class", isDefault), true, r))
			},
			stored: theClass},
		"PatchClass": {tx: "class_patch", prepare: withClass(),
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchClass(ctx, p, "class", true, r, func(c ipam.Class) (ipam.Class, error) {
					c.Spec.IsDefault = true
					return c, nil
				}))
			},
			stored: theClass},
		"DeleteClass": {tx: "class_delete", prepare: withClass(),
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteClass(ctx, p, "first", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetClass(ctx, p, "first", usecase.Reading{}))
			}},
		"PatchPoolToBackAnotherClass": {tx: "pool_patch", prepare: withClass(),
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchPool(ctx, p, "pool", r, func(p ipam.Pool) (ipam.Pool, error) {
					p.Spec.ClassNames = []string{"first", "class"}
					return p, nil
				}))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetPool(ctx, p, "pool", usecase.Reading{}))
			}},
		"CreateClaimByClass":           {tx: "claim_group", key: "key", prepare: withClass(), do: claim, stored: theClaim},
		"CreateFirstClaimOfScope":      {tx: "claim_first", key: "key", prepare: withClass(perZone), do: claim, stored: theClaim},
		"CreateFirstClaimOfScopeNoKey": {tx: "claim_first", prepare: withClass(perZone), do: claim, stored: theClaim},
		"DeleteClaimThatCoolsDown": {tx: "claim_group", prepare: withServed,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteClaim(ctx, p, "claim", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				if _, err := theOne(ctx, svc, p, usecase.Reading{}); err != nil {
					return nil, err
				}
				return gone(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
			}},
		"DeleteCoolingAllocation": {tx: "allocation_delete", prepare: withCooling,
			do:     operations["DeleteAllocation"].do,
			stored: operations["DeleteAllocation"].stored},
	})
}
