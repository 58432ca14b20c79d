package crdb_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// An object is created while its project is deleted. The test deletes the project just before the COMMIT of the other transaction. Either the object
// exists before the deletion and is deleted with the project, or the creation is refused. No row remains.
func TestNothingIsCreatedInAConcurrentlyDeletedProject(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // there, transactions under locks do not see concurrent SERIALIZABLE transactions
	for name, makes := range map[string]func(context.Context, *alloc.Service) error{
		"CreateKey": func(ctx context.Context, svc *alloc.Service) error {
			_, err := svc.CreateKey(ctx, "gone", ipam.APIKey{Metadata: ipam.Metadata{Name: "k"}, Spec: ipam.APIKeySpec{Role: "viewer"}}, usecase.Request{})
			return err
		},
		"PutMember": func(ctx context.Context, svc *alloc.Service) error {
			_, err := svc.PutMember(ctx, "gone", memberOf("viewer"), usecase.Request{})
			return err
		},
		"ConfirmExpiry": func(ctx context.Context, svc *alloc.Service) error {
			_, err := confirm(ctx, svc, "gone", usecase.Request{})
			return err
		},
		"a refusal in the trail": func(ctx context.Context, svc *alloc.Service) error {
			ctx = tenancy.WithPrincipal(ctx, tenancy.Principal{Subject: "looker", Method: "dev", Roles: map[string]tenancy.Role{"gone": tenancy.Viewer}})
			err := svc.Admit(ctx, tenancy.KeysWrite, "gone")
			if !ipam.IsCode(err, ipam.CodePermissionDenied) {
				return fmt.Errorf("it is not refused: %w", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStorm(t)
			gone := newProject(t, st.direct, "gone")
			deleted := make(chan error, 1)
			st.proxy.SetRules(pgfault.Once(atCommit(func(pgfault.Event) pgfault.Action {
				go func() {
					err := st.direct.svc.DeleteProject(admin(t), "gone", usecase.Request{})
					_, failed := st.direct.store.Purge(admin(t), 100)
					deleted <- errors.Join(err, failed)
				}()
				await(t, func() bool { return len(deleted) > 0 || waiting(t, st) })
				return pgfault.Action{}
			})))
			err := makes(admin(t), st.svc)
			if !ipam.IsCode(err, ipam.CodeNotFound) {
				require.NoError(t, err)
			}
			require.NoError(t, <-deleted)
			require.Zero(t, rows(t, st.direct, "audit_events", gone))
			clean(t, st.direct.dsn)
		})
	}
}

func confirm(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
	return answer(svc.ConfirmExpiry(ctx, p, "cluster", r))
}

// A request has read its project, and then the project is deleted before the transaction begins. The transaction creates nothing.
func TestNothingIsCreatedInAProjectDeletedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	asked := map[string]func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error){"ConfirmExpiry": confirm}
	for name, o := range operations {
		if !strings.HasSuffix(name, "Project") { // the operations whose names end with Project concern another project
			asked[name] = o.do
		}
	}
	for i, name := range slices.Sorted(maps.Keys(asked)) {
		p := fmt.Sprint("gone-", i)
		gone := newProject(t, st.direct, p)
		began := false
		remove := sync.OnceValue(func() error {
			began = true
			err := st.direct.svc.DeleteProject(admin(t), p, usecase.Request{})
			_, failed := st.direct.store.Purge(admin(t), 100)
			return errors.Join(err, failed)
		})
		st.proxy.SetRules(pgfault.When(func(e pgfault.Event) bool {
			return e.Executes() && strings.HasPrefix(e.SQL, "begin") && strings.HasSuffix(e.SQL, "read write")
		}, func(pgfault.Event) pgfault.Action {
			assert.NoError(t, remove())
			return pgfault.Action{}
		}))
		_, err := asked[name](admin(t), st.svc, p, usecase.Request{})
		if began { // otherwise the request failed earlier, because its object is missing
			assert.Error(t, err, name)
		}
		assert.Zero(t, rows(t, st.direct, "audit_events", gone), name)
	}
	st.proxy.SetRules()
	clean(t, st.direct.dsn)
}

// waiting reports whether a session waits for a lock in the database of st.
func waiting(t *testing.T, st *storm) (yes bool) {
	t.Helper()
	require.NoError(t, st.conn.QueryRow(admin(t), `SELECT count(*) > 0 FROM pg_locks AS k JOIN pg_stat_activity AS a ON a.pid = k.pid
		WHERE a.datname = current_database() AND NOT k.granted`).Scan(&yes))
	return yes
}
