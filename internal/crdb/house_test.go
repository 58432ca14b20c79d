package crdb_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// project is the project of all tests that need only one.
const project = ipam.PlatformProject

// house is a server without HTTP: the use cases on a database.
type house struct {
	dsn   string
	store *crdb.Store
	svc   *alloc.Service
}

// asAdmin returns the context of an admin's request.
func asAdmin(ctx context.Context) context.Context {
	return tenancy.WithPrincipal(ctx, tenancy.Principal{
		Subject: "tester", Method: "dev", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin},
	})
}

// admin returns the context of an admin's request. Only a test that hangs reaches its deadline.
func admin(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(asAdmin(t.Context()), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newHouse(t testing.TB, dsn string, options ...func(*crdb.Options)) *house {
	t.Helper()
	h := &house{dsn: dsn, store: open(t, dsn, options...)}
	h.svc = alloc.New(h.store, alloc.Options{Region: region, Webhooks: hooked})
	require.NoError(t, h.svc.EnsurePlatform(admin(t)))
	return h
}

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// rootPool returns a root pool for a request.
func rootPool(name, block string, reservations ...ipam.Reservation) ipam.Pool {
	return ipam.Pool{Metadata: ipam.Metadata{Name: name}, Spec: ipam.PoolSpec{
		CIDR: cidr(block), Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit}, Reservations: reservations,
	}}
}

// childPool returns a child pool for a request. It has an exact CIDR if block is not empty, and otherwise a prefix length.
func childPool(name, parentProject, parent string, bits int, block string) ipam.Pool {
	p := ipam.Pool{Metadata: ipam.Metadata{Name: name}, Spec: ipam.PoolSpec{
		Parent: ipam.Ref{Project: parentProject, Name: parent}, Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
	}}
	if block != "" {
		p.Spec.CIDR = cidr(block)
	} else {
		p.Spec.PrefixLength = &bits
	}
	return p
}

// claimOf returns a claim on a pool, with a prefix length.
func claimOf(name, ofProject, pool string, bits int) ipam.Claim {
	return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{
		PoolRef: ipam.Ref{Project: ofProject, Name: pool}, PrefixLength: &bits, ReclaimPolicy: ipam.ReclaimDelete,
	}}
}

// claimExact returns a claim on a pool, with an exact CIDR.
func claimExact(name, ofProject, pool, block string) ipam.Claim {
	c := claimOf(name, ofProject, pool, 0)
	c.Spec.PrefixLength, c.Spec.CIDR = nil, cidr(block)
	return c
}

func (h *house) createPool(t testing.TB, p ipam.Pool) ipam.Pool {
	t.Helper()
	r, err := h.svc.CreatePool(admin(t), project, p, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

func (h *house) createClaim(t testing.TB, c ipam.Claim) ipam.Claim {
	t.Helper()
	r, err := h.svc.CreateClaim(admin(t), project, c, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// clean requires that the audit finds no broken invariant.
func clean(t testing.TB, dsn string) audit.Report {
	t.Helper()
	report, err := audit.Run(t.Context(), dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	return report
}
