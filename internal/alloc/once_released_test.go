package alloc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// A client retries the creation of a claim that has been released meanwhile. The server must not return the old block, because another claim may hold
// it.
func TestRetryOfAReleasedClaimIsRefused(t *testing.T) {
	t.Parallel()
	named := claim("", "net", 31)
	named.Metadata = generated(ipam.GenerateName("job-", 0, ipam.NewID()), "job-")
	for name, made := range map[string]ipam.Claim{"Named": claim("job", "net", 31), "Generated": named} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/30"))
			run := func(r usecase.Request) (usecase.Result[ipam.Claim], error) {
				return b.CreateClaim(b.ctx, project, made, r)
			}
			first, err := run(key("k", "job"))
			require.NoError(t, err)
			again, err := run(key("k", "job"))
			require.NoError(t, err, "while it is held its answer can be had")
			require.Equal(t, first.Value.UID, again.Value.UID)
			b.release(t, first.Value.Name)
			gone := func(why string) {
				t.Helper()
				before := b.dump(t)
				result, err := run(key("k", "job"))
				e := refused(t, err, ipam.CodeClaimReleased)
				require.Contains(t, e.Message, first.Value.Ref().String(), why)
				require.Equal(t, "header:Idempotency-Key", e.Fields[0].Pointer)
				require.Zero(t, result, why)
				require.Equal(t, before, b.dump(t), why)
				dryRun := key("k", "job")
				dryRun.DryRun = true
				_, err = run(dryRun)
				refused(t, err, ipam.CodeClaimReleased)
			}
			gone("nobody holds it")
			b.claim(t, claim(first.Value.Name, "net", 31))
			gone("another claim has its name and its block")
			b.claim(t, claim("rest", "net", 31))
			gone("nothing is left")
			_, err = run(key("k", "another request"))
			refused(t, err, ipam.CodeIdempotencyMismatch)
			b.release(t, first.Value.Name)
			second, err := run(key("new", "job"))
			require.NoError(t, err, "a new key makes a new claim")
			require.NotEqual(t, first.Value.UID, second.Value.UID)
		})
	}
}

func TestRetryOfABatchWithAReleasedClaimIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28"))
	run := func() error {
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("a", "net", 31), claim("b", "net", 31), claim("c", "net", 31)}, key("k", "batch"))
		return err
	}
	require.NoError(t, run())
	_, err := b.patchClaim("a", usecase.Request{}, withLabels("changed", "since"))
	require.NoError(t, err)
	require.NoError(t, run())
	b.release(t, "b")
	require.Contains(t, refused(t, run(), ipam.CodeClaimReleased).Message, "created 3 claims, and 1 of them have been released, for example claim acme/b. Read the other claims by name")
	b.release(t, "a")
	b.release(t, "c")
	require.Contains(t, refused(t, run(), ipam.CodeClaimReleased).Message, "and all of them have been released")
}

// A retry of a rebind is refused too if its claim has been released meanwhile. The block is retained, so only a new claim by allocationRef may bind
// it.
func TestRetryOfAReleasedRebindIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	run := func() error {
		_, err := b.CreateClaim(b.ctx, project, again("bound", kept.AllocationID, retain), key("k", "again"))
		return err
	}
	require.NoError(t, run())
	require.NoError(t, run())
	b.release(t, "bound")
	refused(t, run(), ipam.CodeClaimReleased)
}

// The response to a COMMIT is lost, and another caller releases the new claim before the server reads the outcome. The server must not create the
// claim again, and must report it as released.
func TestClaimReleasedBeforeItsOutcomeIsKnownStaysReleased(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(s *alloc.Service, b *bundle) error{
		"Claim": func(s *alloc.Service, b *bundle) error {
			_, err := s.CreateClaim(b.ctx, project, claim("c", "net", 32), key("k", "c"))
			return err
		},
		"Batch": func(s *alloc.Service, b *bundle) error {
			_, err := s.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("c", "net", 32)}, key("k", "c"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/32"))
			store, _ := b.store(t)
			refused(t, run(b.serve(&meddler{Store: store, then: func() error { return b.DeleteClaim(b.ctx, project, "c", usecase.Request{}) }}), b), ipam.CodeClaimReleased)
			require.Equal(t, "1", b.available(t, "net"))
			refused(t, run(b.Service, b), ipam.CodeClaimReleased)
		})
	}
}

// meddler is a store that loses the response to its first COMMIT. It calls a function before it reports the loss.
type meddler struct {
	storage.Store

	then func() error
}

// InTx implements storage.Store.
func (m *meddler) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if err := m.Store.InTx(ctx, op, locks, fn); err != nil || m.then == nil {
		return err
	}
	then := m.then
	m.then = nil
	if err := then(); err != nil {
		return err
	}
	return lost()
}

// The stored idempotency key is in one region, and its claim is in another region. A retry in the key's region must find the claim.
func TestRetryFindsItsClaimInAnotherRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.pool(t, root("net", "10.0.0.0/24"))
	for name, run := range map[string]func(what string) (string, bool, error){
		"Claim": func(what string) (string, bool, error) {
			got, err := w.in[eu].CreateClaim(w.ctx, project, claim("claim", "net", 32), key("claim", what))
			return got.Value.Region, got.Replayed, err
		},
		"Batch": func(what string) (string, bool, error) {
			got, err := w.in[eu].CreateClaimBatch(w.ctx, project, []ipam.Claim{claim("batch", "net", 32)}, key("batch", what))
			if err != nil {
				return "", false, err
			}
			return got.Value[0].Region, got.Replayed, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 2 {
				where, replayed, err := run("x")
				require.NoError(t, err)
				require.Equal(t, i == 1, replayed)
				require.Equal(t, region, where, "its pool is at home there")
			}
			require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, map[string]string{"Claim": "claim", "Batch": "batch"}[name], usecase.Request{}))
			_, _, err := run("x")
			refused(t, err, ipam.CodeClaimReleased)
		})
	}
}

// Two callers of one project use the same idempotency key. These are two different requests, so the server refuses the second one.
func TestIdempotencyKeyOfAnotherCallerIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	other := tenancy.WithPrincipal(b.ctx, tenancy.Principal{Subject: "somebody-else", Method: "dev", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
	for name, run := range map[string]func(ctx context.Context, r usecase.Request) error{
		"Claim": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateClaim(ctx, project, claim("c", "net", 32), r)
			return err
		},
		"Batch": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateClaimBatch(ctx, project, []ipam.Claim{claim("d", "net", 32), claim("e", "net", 32)}, r)
			return err
		},
		"Pool": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreatePool(ctx, project, root("p", "10.1.0.0/16"), r)
			return err
		},
		"Space": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateSpace(ctx, project, ipam.Space{Metadata: meta("s")}, r)
			return err
		},
		"Project": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateProject(ctx, ipam.Project{Metadata: meta("umbrella")}, r)
			return err
		},
		"Class": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateClass(ctx, project, class("fast"), false, r)
			return err
		},
		"APIKey": func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateKey(ctx, project, ipam.APIKey{Metadata: meta("ci"), Spec: ipam.APIKeySpec{Role: "viewer"}}, r)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, run(b.ctx, key(name, name)))
			require.NoError(t, run(b.ctx, key(name, name)), "the caller's own")
			before := b.dump(t)
			e := refused(t, run(other, key(name, name)), ipam.CodeIdempotencyMismatch)
			require.Contains(t, e.Message, "another caller")
			require.NotContains(t, fmt.Sprint(e.Message, e.Fields), "tester", "who that was is not told")
			require.Equal(t, before, b.dump(t))
		})
	}
}
