package alloc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The functions below make pools and claims for tests. Options set the fields that differ from the defaults.

type (
	poolOption  func(*ipam.Pool)
	claimOption func(*ipam.Claim)
)

func block(s string) netip.Prefix    { return netip.MustParsePrefix(s) }
func address(s string) netip.Addr    { return netip.MustParseAddr(s) }
func ref(name string) ipam.Ref       { return ipam.Ref{Project: project, Name: name} }
func meta(name string) ipam.Metadata { return ipam.Metadata{Name: name} }

func root(name, cidr string, options ...poolOption) ipam.Pool {
	p := ipam.Pool{Metadata: meta(name), Spec: ipam.PoolSpec{
		CIDR: block(cidr), Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
	}}
	for _, o := range options {
		o(&p)
	}
	return p
}

func child(name, parent string, bits int, options ...poolOption) ipam.Pool {
	p := ipam.Pool{Metadata: meta(name), Spec: ipam.PoolSpec{
		Parent: ref(parent), PrefixLength: &bits, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
	}}
	for _, o := range options {
		o(&p)
	}
	return p
}

// childAt returns a child pool with an exact CIDR.
func childAt(name, parent, cidr string, options ...poolOption) ipam.Pool {
	return child(name, parent, 0, append([]poolOption{func(p *ipam.Pool) { p.Spec.PrefixLength, p.Spec.CIDR = nil, block(cidr) }}, options...)...)
}

func strategy(s ipam.Strategy) poolOption {
	return func(p *ipam.Pool) { p.Spec.Allocation.Strategy = s }
}
func inSpace(name string) poolOption { return func(p *ipam.Pool) { p.Spec.Space = ref(name) } }
func byDefault(bits int) poolOption {
	return func(p *ipam.Pool) { p.Spec.Allocation.DefaultPrefixLength = &bits }
}

func bounds(lo, hi int) poolOption {
	return func(p *ipam.Pool) {
		p.Spec.Allocation.MinPrefixLength, p.Spec.Allocation.MaxPrefixLength = &lo, &hi
	}
}

func reserving(list ...ipam.Reservation) poolOption {
	return func(p *ipam.Pool) { p.Spec.Reservations = list }
}

func labelled(pairs ...string) poolOption { return func(p *ipam.Pool) { p.Labels = labels(pairs...) } }

func labels(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// claim returns a claim on a pool for a block of a length.
func claim(name, pool string, bits int, options ...claimOption) ipam.Claim {
	c := ipam.Claim{Metadata: meta(name), Spec: ipam.ClaimSpec{PoolRef: ref(pool), PrefixLength: &bits, ReclaimPolicy: ipam.ReclaimDelete}}
	for _, o := range options {
		o(&c)
	}
	return c
}

// claimOf returns a claim on a pool without a prefix length. Options select the block.
func claimOf(name, pool string, options ...claimOption) ipam.Claim {
	return claim(name, pool, 0, append([]claimOption{func(c *ipam.Claim) { c.Spec.PrefixLength = nil }}, options...)...)
}

// selecting returns a claim on the pools that a selector matches.
func selecting(name string, s ipam.Selector, options ...claimOption) ipam.Claim {
	return claimOf(name, "", append([]claimOption{func(c *ipam.Claim) { c.Spec.PoolRef, c.Spec.PoolSelector = ipam.Ref{}, &s }}, options...)...)
}

func withLabels(pairs ...string) claimOption {
	return func(c *ipam.Claim) { c.Labels = labels(pairs...) }
}

func length(bits int) claimOption      { return func(c *ipam.Claim) { c.Spec.PrefixLength = &bits } }
func family(f ipam.Family) claimOption { return func(c *ipam.Claim) { c.Spec.Family = f } }
func exactly(cidr string) claimOption  { return func(c *ipam.Claim) { c.Spec.CIDR = block(cidr) } }
func hostAddress(addr string) claimOption {
	return func(c *ipam.Claim) { c.Spec.Address = address(addr) }
}
func retain(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimRetain }

// again returns a claim that binds a retained allocation.
func again(name string, allocation ipam.ID, options ...claimOption) ipam.Claim {
	return claimOf(name, "", append([]claimOption{func(c *ipam.Claim) { c.Spec.PoolRef, c.Spec.AllocationRef = ipam.Ref{}, allocation.String() }}, options...)...)
}

// key returns a request with an idempotency key. content stands for its operation and body.
func key(k, content string) usecase.Request {
	r := usecase.Request{Key: k}
	copy(r.Fingerprint[:], content)
	return r
}

var dry = usecase.Request{DryRun: true}

func (b *bundle) pool(t testing.TB, p ipam.Pool) ipam.Pool {
	t.Helper()
	r, err := b.CreatePool(b.ctx, project, p, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

func (b *bundle) claim(t testing.TB, c ipam.Claim) ipam.Claim {
	t.Helper()
	r, err := b.CreateClaim(b.ctx, project, c, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

func (b *bundle) release(t testing.TB, name string) {
	t.Helper()
	require.NoError(t, b.DeleteClaim(b.ctx, project, name, usecase.Request{}))
}

// refuseClaim requires that the server refuses a claim with the code, and that the claim does not exist afterwards.
func (b *bundle) refuseClaim(t testing.TB, c ipam.Claim, code ipam.Code) *ipam.Error {
	t.Helper()
	_, err := b.CreateClaim(b.ctx, project, c, usecase.Request{})
	refusal := refused(t, err, code)
	_, err = b.GetClaim(b.ctx, project, c.Name, usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	return refusal
}

// refused requires an error with the code.
func refused(t testing.TB, err error, code ipam.Code) *ipam.Error {
	t.Helper()
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, "%v", err)
	require.NotEmpty(t, e.Message)
	return e
}

// available returns the number of free addresses in a pool's status.
func (b *bundle) available(t testing.TB, pool string) string {
	t.Helper()
	p, err := b.GetPool(b.ctx, project, pool, usecase.Reading{})
	require.NoError(t, err)
	return p.Stock.Available(p.Family().Bits()).String()
}

// free returns the free blocks in a pool's status.
func (b *bundle) free(t testing.TB, pool string) []string {
	t.Helper()
	page, err := b.GetPoolFree(b.ctx, project, pool, nil, 500, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, page.Next)
	return texts(page.Blocks)
}

func texts(blocks []netip.Prefix) []string {
	out := make([]string, len(blocks))
	for i, p := range blocks {
		out[i] = p.String()
	}
	return out
}
