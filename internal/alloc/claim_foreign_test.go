package alloc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// provider is the project that offers pools to others in these tests.
const provider = other

func theirs(name string) ipam.Ref { return ipam.Ref{Project: provider, Name: name} }

func visible(v ipam.Visibility) poolOption { return func(p *ipam.Pool) { p.Spec.Visibility = v } }

// offered sets a claim's pool reference to the provider's project.
func offered(c *ipam.Claim) { c.Spec.PoolRef.Project = provider }

// setupProvider makes a bundle with a second project, the provider. The provider has a shared pool "net" and grants nothing.
func setupProvider(t *testing.T, options ...poolOption) *bundle {
	t.Helper()
	b := setup(t)
	b.neighbour(t)
	b.offer(t, root("net", "10.0.0.0/24", append([]poolOption{visible(ipam.VisibilityShared)}, options...)...))
	return b
}

// setupPlatform is setupProvider with the project "platform" as the provider. Tests with selectors need this, because a selector finds foreign pools
// only if they are the platform's.
func setupPlatform(t *testing.T, options ...poolOption) *bundle {
	t.Helper()
	b := setup(t)
	b.lends = ipam.PlatformProject
	b.offer(t, root("net", "10.0.0.0/24", append([]poolOption{visible(ipam.VisibilityShared)}, options...)...))
	return b
}

// lender returns the project that offers pools.
func (b *bundle) lender() string {
	if b.lends != "" {
		return b.lends
	}
	return provider
}

// ofLender sets a claim's pool reference to the lender's project.
func (b *bundle) ofLender(c *ipam.Claim) { c.Spec.PoolRef.Project = b.lender() }

func (b *bundle) offer(t *testing.T, p ipam.Pool) ipam.Pool {
	t.Helper()
	r, err := b.CreatePool(b.ctx, b.lender(), p, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

func (b *bundle) grant(t *testing.T, pool, consumer string) {
	t.Helper()
	_, err := b.PutPoolGrant(b.ctx, b.lender(), pool, consumer, usecase.Request{})
	require.NoError(t, err)
}

func (b *bundle) revoke(t *testing.T, pool, consumer string) {
	t.Helper()
	require.NoError(t, b.DeletePoolGrant(b.ctx, b.lender(), pool, consumer, usecase.Request{}))
}

func (b *bundle) show(t *testing.T, pool string, v ipam.Visibility) {
	t.Helper()
	_, err := b.PatchPool(b.ctx, b.lender(), pool, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Visibility = v
		return p, nil
	})
	require.NoError(t, err)
}

// ways returns all operations that claim from a pool by name.
func (b *bundle) ways() map[string]func(ipam.Claim) error {
	return map[string]func(ipam.Claim) error{
		"Create": func(c ipam.Claim) error {
			_, err := b.CreateClaim(b.ctx, project, c, usecase.Request{})
			return err
		},
		"Put": func(c ipam.Claim) error {
			_, err := b.PutClaim(b.ctx, project, c, usecase.Request{})
			return err
		},
		"DryRun": func(c ipam.Claim) error {
			_, err := b.CreateClaim(b.ctx, project, c, dry)
			return err
		},
		"WithKey": func(c ipam.Claim) error {
			_, err := b.CreateClaim(b.ctx, project, c, key(ipam.NewID().String(), c.Name))
			return err
		},
	}
}

// requireAsMissing requires that a claim on the provider's pool gets the same refusal as a claim on a missing pool.
func (b *bundle) requireAsMissing(t *testing.T) {
	t.Helper()
	missing := func(run func(ipam.Claim) error, pool string) *ipam.Error {
		e := refused(t, run(claim("c", pool, 32, offered)), ipam.CodeNotFound)
		require.Contains(t, e.Message, provider+"/"+pool)
		e.Message = ""
		return e
	}
	for name, run := range b.ways() {
		require.Equal(t, missing(run, "not"), missing(run, "net"), name)
	}
	batch := func(c ipam.Claim) error {
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("own", "own", 32), c}, usecase.Request{})
		return err
	}
	require.Equal(t, missing(batch, "not"), missing(batch, "net"))
}

func TestForeignPoolMustBeSharedAndGranted(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.pool(t, root("own", "10.0.0.0/24"))
	b.requireAsMissing(t) // shared, not granted
	b.grant(t, "net", "somebody-else")
	b.requireAsMissing(t)

	for _, consumer := range []string{project, ipam.Everybody} {
		b.grant(t, "net", consumer)
		for name, run := range b.ways() {
			c := claim("c", "net", 32, offered)
			require.NoError(t, run(c), name)
			if name != "DryRun" {
				made, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
				require.NoError(t, err)
				require.Equal(t, theirs("net"), made.Pool)
				b.release(t, "c")
			}
		}
		r, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("own", "own", 32), claim("c", "net", 32, offered)}, usecase.Request{})
		require.NoError(t, err)
		require.Equal(t, []ipam.Ref{ref("own"), theirs("net")}, []ipam.Ref{r.Value[0].Pool, r.Value[1].Pool})
		b.release(t, "own")
		b.release(t, "c")

		b.show(t, "net", ipam.VisibilityConsumer)
		b.requireAsMissing(t) // granted, not shared
		b.show(t, "net", ipam.VisibilityShared)
		b.revoke(t, "net", consumer)
		b.requireAsMissing(t)
	}
}

func TestOwnPoolNeedsNoGrantAtAnyVisibility(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, v := range []ipam.Visibility{ipam.VisibilityPlatform, ipam.VisibilityConsumer, ipam.VisibilityShared} {
		p := root(string(v), "10.0.0.0/24", visible(v))
		p.Spec.CIDR = block([]string{"10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"}[i])
		_, err := b.CreatePool(b.ctx, ipam.PlatformProject, p, usecase.Request{})
		require.NoError(t, err)
		c := claim(string(v), string(v), 32)
		c.Spec.PoolRef.Project = ipam.PlatformProject
		_, err = b.CreateClaim(b.ctx, ipam.PlatformProject, c, usecase.Request{})
		require.NoError(t, err)
	}
}

// A claim has passed the first check of its grant and waits for its transaction. Meanwhile the grant is deleted.
func TestQueuedClaimIsRefusedAfterItsGrantIsDeleted(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*testing.T, *bundle){
		"Revoked":      func(t *testing.T, b *bundle) { b.revoke(t, "net", project) },               //nolint:thelper // the case itself
		"NotSharedNow": func(t *testing.T, b *bundle) { b.show(t, "net", ipam.VisibilityConsumer) }, //nolint:thelper // the case itself
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupPlatform(t, labelled("x", "y"))
			b.grant(t, "net", project)
			pool, err := b.GetPool(b.ctx, b.lender(), "net", usecase.Reading{})
			require.NoError(t, err)
			other := b.Service
			store, _ := b.store(t)
			g := &gated{bundle: b, gate: newGate(store, "claim_group"), pool: pool}
			b.Service = b.serve(g.gate)
			mine := claim("mine", "net", 32)
			b.ofLender(&mine)
			g.hold(t, func(ctx context.Context) (ipam.Claim, error) {
				r, err := g.CreateClaim(ctx, b.lender(), mine, usecase.Request{})
				return r.Value, err
			})
			g.queue(t,
				g.claiming(claim("a", "net", 32, b.ofLender), usecase.Request{}),
				g.claiming(selecting("b", matching("x", "y"), length(32)), usecase.Request{}),
			)
			second := mine
			second.Name = "second"
			g.queue(t, func(ctx context.Context) (ipam.Claim, error) {
				r, err := g.CreateClaim(ctx, b.lender(), second, usecase.Request{})
				return r.Value, err
			})
			stop(t, &bundle{Service: other, ctx: b.ctx, lends: b.lends})
			late := g.finish()
			_, missing := b.CreateClaim(b.ctx, project, claim("a", "net", 32, b.ofLender), usecase.Request{})
			require.Equal(t, missing, late[0].err, "as for a pool that is not there")
			e := refused(t, late[1].err, ipam.CodeNoPoolMatches)
			require.NotContains(t, e.Message, b.lender(), "nor does a selector's refusal name it")
			require.NoError(t, late[2].err, "a neighbour of the pool's own project")
		})
	}
}

func TestBatchIsRefusedIfItsGrantIsDeletedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(b *bundle) ipam.Claim{
		"ByName":     func(b *bundle) ipam.Claim { return claim("c", "net", 32, b.ofLender) },
		"BySelector": func(*bundle) ipam.Claim { return selecting("c", matching("x", "y"), length(32)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupPlatform(t, labelled("x", "y"))
			b.grant(t, "net", project)
			c := ask(b)
			other := b.Service
			store, _ := b.store(t)
			gate := newGate(store, "claim_batch")
			b.Service = b.serve(gate)
			g := &gated{bundle: b, gate: gate}
			o := g.hold(t, func(ctx context.Context) (ipam.Claim, error) {
				_, err := b.CreateClaimBatch(ctx, project, []ipam.Claim{c}, usecase.Request{})
				return ipam.Claim{}, err
			})
			require.NoError(t, other.DeletePoolGrant(b.ctx, b.lender(), "net", project, usecase.Request{}))
			g.finish()
			_, missing := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{c}, usecase.Request{})
			require.Error(t, missing)
			require.Equal(t, missing, o.err)
		})
	}
}

func TestSelectorTriesOwnPoolsBeforePlatformPools(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	one := []poolOption{labelled("for", "hosts"), visible(ipam.VisibilityShared)}
	b.pool(t, root("z-own", "10.9.0.0/32", one...))
	b.offer(t, root("z", "10.1.0.1/32", one...))
	b.offer(t, root("a", "10.1.0.0/32", one...))
	b.offer(t, root("b-secret", "10.1.0.2/32", one...))                                                      // not granted
	b.offer(t, root("c-private", "10.1.0.3/32", labelled("for", "hosts"), visible(ipam.VisibilityConsumer))) // not shared
	var err error
	for i, name := range []string{"public", "granted", "secret"} {
		_, err = b.CreatePool(b.ctx, ipam.PlatformProject, root(name, fmt.Sprintf("10.2.0.%d/32", i), one...), usecase.Request{})
		require.NoError(t, err)
	}
	for pool, to := range map[string]string{"public": ipam.Everybody, "granted": project} {
		_, err = b.PutPoolGrant(b.ctx, ipam.PlatformProject, pool, to, usecase.Request{})
		require.NoError(t, err)
	}
	_, err = b.PutPoolGrant(b.ctx, ipam.PlatformProject, "granted", ipam.Everybody, usecase.Request{}) // granted twice, but the claim tries it once
	require.NoError(t, err)
	for _, p := range []string{"a", "z", "c-private"} {
		b.grant(t, p, project)
	}
	b.grant(t, "z", ipam.Everybody) // not a candidate, because its owner is not the platform
	pick := func(name string) ipam.Claim { return selecting(name, matching("for", "hosts"), length(32)) }
	order := []string{"acme/z-own", "platform/granted", "platform/public"}
	for i, pool := range order {
		require.Equal(t, pool, b.claim(t, pick(string(rune('a'+i)))).Pool.String())
	}
	e := b.refuseClaim(t, pick("more"), ipam.CodePoolExhausted)
	require.Equal(t, order, e.Figures.PoolsTried)
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{pick("more")}, usecase.Request{})
	require.Equal(t, order, refused(t, err, ipam.CodePoolExhausted).Figures.PoolsTried)
	for i := range order {
		b.release(t, string(rune('a'+i)))
	}
	r, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{pick("a"), pick("b"), pick("c")}, usecase.Request{})
	require.NoError(t, err)
	for i, c := range r.Value {
		require.Equal(t, order[i], c.Pool.String())
	}
}

func TestHeldBlocksStayAfterTheGrantIsDeleted(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	made := b.claim(t, claim("c", "net", 28, offered, retain))
	kept := b.claim(t, claim("kept", "net", 28, offered, retain))
	b.release(t, "kept")
	b.revoke(t, "net", project)

	read, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made, read)
	r, err := b.PutClaim(b.ctx, project, claim("c", "net", 28, offered, retain), usecase.Request{})
	require.NoError(t, err)
	require.True(t, r.Existed)
	_, err = b.patchClaim("c", usecase.Request{}, withLabels("a", "b"))
	require.NoError(t, err)
	e := b.refuseClaim(t, again("d", kept.AllocationID, retain), ipam.CodeNotFound)
	require.Contains(t, e.Message, "Pool umbrella/net was not found.", "binding again is a new claim")
	b.grant(t, "net", project)
	require.Equal(t, kept.Block, b.claim(t, again("d", kept.AllocationID, retain)).Block)
	b.release(t, "d")
	of := func(project string) claimOption { return func(c *ipam.Claim) { c.Spec.AllocationOf = project } }
	missing := b.refuseClaim(t, again("e", ipam.NewID()), ipam.CodeNotFound)
	for _, wrong := range []string{project, "nobody"} {
		e := b.refuseClaim(t, again("e", kept.AllocationID, of(wrong)), ipam.CodeNotFound)
		require.Equal(t, missing.Fields, e.Fields, "the same as one that is missing")
		require.Equal(t, fmt.Sprintf("Allocation %q was not found in project %q.", kept.AllocationID, project), e.Message)
	}
	back := again("e", kept.AllocationID, retain, of(provider))
	require.Equal(t, kept.Block, b.claim(t, back).Block, "as status.allocationRef has it")
	for _, c := range []ipam.Claim{back, again("e", kept.AllocationID, retain)} {
		got, err := b.PutClaim(b.ctx, project, c, usecase.Request{})
		require.NoError(t, err)
		require.True(t, got.Existed, "the same claim, whether the project is said or not")
	}
	_, err = b.PutClaim(b.ctx, project, again("e", kept.AllocationID, retain, of("nobody")), usecase.Request{})
	refused(t, err, ipam.CodeAlreadyExists)
	b.revoke(t, "net", project)
	b.release(t, "e")
	b.release(t, "c")
	for _, id := range []ipam.ID{made.AllocationID, kept.AllocationID} {
		require.NoError(t, b.DeleteAllocation(b.ctx, project, id.String(), usecase.Request{}), "the holder gives it back")
	}
	p, err := b.GetPool(b.ctx, provider, "net", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, "256", p.Stock.Available(32).String())
}
