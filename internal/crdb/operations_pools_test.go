package crdb_test

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func nothing(t *testing.T, _ *house, _ string) { t.Helper() }

func withSpace(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := h.svc.CreateSpace(admin(t), p, ipam.Space{Metadata: ipam.Metadata{Name: "lab"}}, usecase.Request{})
	require.NoError(t, err)
}

func withAnother(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := h.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: "of-" + p}}, usecase.Request{})
	require.NoError(t, err)
}

func label(m *ipam.Metadata) { m.Labels = map[string]string{"new": "1"} }

func init() {
	maps.Copy(operations, map[string]operation{
		"CreatePool": {tx: "pool_create", key: "key", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreatePool(ctx, p, rootPool("pool", "10.0.0.0/24", ipam.Reservation{First: 3}), r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetPool(ctx, p, "pool", usecase.Reading{}))
			}},
		"CreateChildPool": {tx: "pool_create", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreatePool(ctx, p, childPool("kid", p, "pool", 26, ""), r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetPool(ctx, p, "kid", usecase.Reading{}))
			}},
		"PatchPool": {tx: "pool_patch", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchPool(ctx, p, "pool", r, func(p ipam.Pool) (ipam.Pool, error) {
					label(&p.Metadata)
					p.Spec.Reservations = []ipam.Reservation{{Last: 3, Reason: "new"}}
					return p, nil
				}))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetPool(ctx, p, "pool", usecase.Reading{}))
			}},
		"DeletePool": {tx: "pool_delete", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeletePool(ctx, p, "pool", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetPool(ctx, p, "pool", usecase.Reading{}))
			}},
		"CreateSpace": {tx: "space_create", key: "key", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreateSpace(ctx, p, ipam.Space{Metadata: ipam.Metadata{Name: "lab"}}, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetSpace(ctx, p, "lab"))
			}},
		"PatchSpace": {tx: "space_patch", prepare: withSpace,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchSpace(ctx, p, "lab", r, func(sp ipam.Space) (ipam.Space, error) { label(&sp.Metadata); return sp, nil }))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetSpace(ctx, p, "lab"))
			}},
		"DeleteSpace": {tx: "space_delete", prepare: withSpace,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteSpace(ctx, p, "lab", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetSpace(ctx, p, "lab"))
			}},
		"CreateProject": {tx: "project_create", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreateProject(ctx, ipam.Project{Metadata: ipam.Metadata{Name: "of-" + p}}, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetProject(ctx, "of-"+p))
			}},
		"PatchProject": {tx: "project_patch", prepare: withAnother,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchProject(ctx, "of-"+p, r, func(p ipam.Project) (ipam.Project, error) { label(&p.Metadata); return p, nil }))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetProject(ctx, "of-"+p))
			}},
		"DeleteProject": {tx: "project_delete", prepare: withAnother,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteProject(ctx, "of-"+p, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetProject(ctx, "of-"+p))
			}},
	})
}
