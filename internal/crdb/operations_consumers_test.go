package crdb_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// consumer returns a consumer in the default realm.
func consumer(uid string) ipam.NewConsumer {
	return ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: ipam.DefaultRealm, UID: uid}}
}

// withUser returns a function that prepares a claim with one consumer. when decides what happens to the claim after the last detach.
func withUser(when ipam.WhenUnused) func(*testing.T, *house, string) {
	return func(t *testing.T, h *house, p string) {
		t.Helper()
		withPool(t, h, p)
		c := claimOf("claim", p, "pool", 28)
		c.Spec.WhenUnused, c.Spec.MaxConsumers, c.Spec.Consumers = when, 2, []ipam.NewConsumer{consumer("vm")}
		_, err := h.svc.CreateClaim(admin(t), p, c, usecase.Request{})
		require.NoError(t, err)
	}
}

var errStillUsed = errors.New("it is attached still")

// unattached returns no error if the claim has no consumer or is deleted.
func unattached(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	page, err := svc.ListClaimConsumers(ctx, p, "claim", 10, "", usecase.Reading{})
	if ipam.IsCode(err, ipam.CodeNotFound) {
		return nil, nil
	}
	if err == nil && len(page.Items) > 0 {
		err = errStillUsed
	}
	return nil, err
}

func detachVM(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
	return none(svc.DetachConsumer(ctx, p, "claim", consumer("vm").Ref, r))
}

func init() {
	maps.Copy(operations, map[string]operation{
		"AttachConsumer": {tx: "consumer_attach", prepare: withClaim(""),
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.AttachConsumer(ctx, p, "claim", consumer("vm"), r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
			}},
		"DetachConsumer":     {tx: "consumer_detach", prepare: withUser(ipam.UnusedKeep), do: detachVM, stored: unattached},
		"DetachLastConsumer": {tx: "claim_group", prepare: withUser(ipam.UnusedDelete), do: detachVM, stored: unattached},
		"PutConsumer": {tx: "consumer_put", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.PutConsumer(ctx, p, consumer("vm"), r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetConsumer(ctx, p, consumer("vm").Ref))
			}},
		"EndConsumer": {tx: "consumer_end", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.EndConsumer(ctx, p, consumer("vm").Ref, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				c, err := svc.GetConsumer(ctx, p, consumer("vm").Ref)
				if err == nil && c.Live() {
					err = errStillThere
				}
				return int64(0), err
			}},
		"RenewConsumers": {tx: "consumer_renew", prepare: withUser(ipam.UnusedKeep),
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.RenewConsumers(ctx, p, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"vm", "nobody"}}, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				_, err := svc.GetConsumer(ctx, p, consumer("vm").Ref)
				return consumers.Renewed{Renewed: []string{"vm"}, Unknown: []string{"nobody"}}, err
			}},
		"CreateClaimWithConsumers": {tx: "claim_group", key: "key", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				c := claimOf("claim", p, "pool", 28)
				c.Spec.Consumers = []ipam.NewConsumer{consumer("vm")}
				return value(svc.CreateClaim(ctx, p, c, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
			}},
	})
}
