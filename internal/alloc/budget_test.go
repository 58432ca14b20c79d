package alloc_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// purse is a budget that records its charges.
type purse struct {
	charged, added tenancy.Work
	empty, used    bool // used: other requests have used it up
	reserved       int  // bytes
}

// Charge implements tenancy.Budget.
func (p *purse) Charge(w tenancy.Work) error {
	if p.empty {
		return ipam.Errorf(ipam.CodeRateLimited, "There is nothing left.")
	}
	p.charged.Blocks += w.Blocks
	return nil
}

// Recheck implements tenancy.Budget.
func (p *purse) Recheck() error {
	if p.used {
		return ipam.Errorf(ipam.CodeRateLimited, "Others have used it.")
	}
	return nil
}

// Debt implements tenancy.Budget.
func (p *purse) Debt() time.Duration { return 0 }

// Add implements tenancy.Budget.
func (p *purse) Add(w tenancy.Work) {
	p.added.Rows += w.Rows
	p.added.Probes += w.Probes
	p.added.Selectors += w.Selectors
	p.added.Counted += w.Counted
}

// Reserve implements tenancy.Budget.
func (p *purse) Reserve(_ context.Context, bytes int) (keep func(int), err error) {
	p.reserved += bytes
	return func(left int) {
		p.reserved -= bytes - left
		bytes = left
	}, nil
}

func TestBatchIsChargedByItsBlocksBeforeTheSearch(t *testing.T) {
	t.Parallel()
	b, rows := setupWeighing(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	rows.take()
	for _, dry := range []bool{true, false} {
		p := &purse{empty: true}
		ctx := tenancy.WithBudget(b.ctx, p)
		_, err := b.CreateClaimBatch(ctx, project, manyClaims("c", "net", 50, 32), usecase.Request{DryRun: dry})
		refused(t, err, ipam.CodeRateLimited)
		asked, read, changed := rows.take()
		require.Equal(t, []int{0, 0, 0}, []int{asked, read, changed})

		p.empty = false
		_, err = b.CreateClaimBatch(ctx, project, manyClaims(fmt.Sprint("c", dry), "net", 50, 32), usecase.Request{DryRun: dry})
		require.NoError(t, err)
		require.Equal(t, 50, p.charged.Blocks, "dry run: %t", dry)
		rows.take()
	}
}

func TestListIsChargedByTheRowsItScans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err := b.CreateClaimBatch(b.ctx, project, manyClaims("c", "net", 700, 32), usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("long", "10.1.0.0/16"))
	long := manyClaims("l", "long", 10, 32)
	for i := range long {
		long[i].Annotations = map[string]string{"a": strings.Repeat("x", 4096)}
	}
	_, err = b.CreateClaimBatch(b.ctx, project, long, usecase.Request{})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		filter paging.Filter
		rows   int
	}{
		"LongTexts":       {paging.Filter{Pool: ipam.Ref{Project: project, Name: "long"}}, 45},
		"Nothing":         {paging.Filter{}, 11},
		"ContainsMisses":  {paging.Filter{Contains: netip.MustParseAddr("192.0.2.1")}, 710},
		"SelectorMisses":  {paging.Filter{Labels: &ipam.Selector{MatchLabels: map[string]string{"a": "b"}}}, 710},
		"ContainsInAPool": {paging.Filter{Pool: ipam.Ref{Project: project, Name: "net"}, Contains: netip.MustParseAddr("10.0.0.5")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &purse{}
			_, err := b.ListClaims(tenancy.WithBudget(b.ctx, p), project, c.filter, 10, "", usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, c.rows, p.added.Rows)
		})
	}
}

func TestExpensiveWorkIsRefusedIfOthersUsedItsBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err := b.CreateClaimBatch(b.ctx, project, manyClaims("c", "net", 20, 32), usecase.Request{})
	require.NoError(t, err)
	misses := paging.Filter{Labels: &ipam.Selector{MatchLabels: map[string]string{"a": "b"}}}
	list := func(ctx context.Context, f paging.Filter) error {
		_, err := b.ListClaims(ctx, project, f, 10, "", usecase.Reading{})
		return err
	}
	for name, ask := range map[string]func(ctx context.Context) error{
		"Release": func(ctx context.Context) error {
			_, err := b.ReleaseClaims(ctx, project, releases.Selection{Filter: misses, Before: time.Now()}, usecase.Request{})
			return err
		},
		"Search": func(ctx context.Context) error { return list(ctx, misses) },
		"History": func(ctx context.Context) error {
			_, err := b.GetHistory(ctx, project, address("10.0.0.200"), time.Time{}, 500, "", usecase.Reading{})
			return err
		},
		"Batch": func(ctx context.Context) error {
			_, err := b.CreateClaimBatch(ctx, project, manyClaims("d", "net", 2, 32), dry)
			return err
		},
	} {
		refused(t, ask(tenancy.WithBudget(b.ctx, &purse{used: true})), ipam.CodeRateLimited)
		require.NoError(t, ask(tenancy.WithBudget(b.ctx, &purse{})), name)
	}
	require.NoError(t, list(tenancy.WithBudget(b.ctx, &purse{used: true}), paging.Filter{}), "an ordinary list waits for no slot")
}

// A request is charged for the rows that the database scans, even if it returns few rows or none.
func TestRequestIsChargedByTheRowsTheDatabaseScans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.pool(t, root("six", "2001:db8::/64"))
	_, err := b.CreateClaimBatch(b.ctx, project, manyClaims("c", "net", 70, 32), usecase.Request{})
	require.NoError(t, err)
	missing := claim("x", "", 32, func(c *ipam.Claim) {
		c.Spec.PoolRef, c.Spec.PoolSelector = ipam.Ref{}, &ipam.Selector{MatchLabels: map[string]string{"a": "b"}}
	})
	for name, c := range map[string]struct {
		ask  func(ctx context.Context) error
		want tenancy.Work
	}{
		"HistoryOfIPv4": {func(ctx context.Context) error {
			_, err := b.GetHistory(ctx, project, address("10.0.0.200"), time.Time{}, 500, "", usecase.Reading{})
			return err
		}, tenancy.Work{Probes: 33}},
		"HistoryOfIPv6": {func(ctx context.Context) error {
			_, err := b.GetHistory(ctx, project, address("2001:db8::1"), time.Time{}, 500, "", usecase.Reading{})
			return err
		}, tenancy.Work{Probes: 129}},
		"SelectorThatMisses": {func(ctx context.Context) error {
			_, err := b.CreateClaim(ctx, project, missing, dry)
			refused(t, err, ipam.CodeNoPoolMatches)
			return nil
		}, tenancy.Work{Selectors: 1}},
		"NewQuota": {func(ctx context.Context) error {
			_, err := b.PutQuota(ctx, project, quota("new", maxClaims(1000)), dry)
			return err
		}, tenancy.Work{Counted: 72}}, // 70 claims and 2 pools
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &purse{}
			require.NoError(t, c.ask(tenancy.WithBudget(b.ctx, p)))
			require.Equal(t, c.want, p.added)
		})
	}
}

func TestQuotaIsNotCountedForACallerInDebt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("c", "net", 32))
	p := &purse{empty: true}
	for _, r := range []usecase.Request{dry, {}} {
		_, err := b.PutQuota(tenancy.WithBudget(b.ctx, p), project, quota("new", maxClaims(1000)), r)
		refused(t, err, ipam.CodeRateLimited)
	}
	require.Zero(t, p.added.Counted)
}

// Lists of one project that scan many rows wait for each other. So they do not occupy the connections that claims need.
func TestConcurrentScansOfOneProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err := b.CreateClaimBatch(b.ctx, project, manyClaims("c", "net", 700, 32), usecase.Request{})
	require.NoError(t, err)
	key, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	free := alloc.FillSearches(t.Context(), b.Service, key.UID)
	misses := paging.Filter{Labels: &ipam.Selector{MatchLabels: map[string]string{"a": "b"}}}
	inPool := misses
	inPool.Pool = ipam.Ref{Project: project, Name: "net"}
	done := make(chan error, 4)
	for _, f := range []paging.Filter{misses, inPool} {
		go func() {
			_, err := b.ListClaims(b.ctx, project, f, 10, "", usecase.Reading{})
			done <- err
		}()
	}
	go func() {
		_, err := b.GetHistory(b.ctx, project, address("10.0.0.1"), time.Time{}, 10, "", usecase.Reading{})
		done <- err
	}()
	go func() {
		_, err := b.CreateClaim(b.ctx, project, claim("x", "", 32, func(c *ipam.Claim) { c.Spec.PoolRef, c.Spec.PoolSelector = ipam.Ref{}, misses.Labels }), dry)
		if ipam.IsCode(err, ipam.CodeNoPoolMatches) {
			err = nil
		}
		done <- err
	}()
	waitFor(t, func() bool { return b.Searching() == 4 })
	page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err, "what finds its page at once needs no place")
	require.Len(t, page.Items, 10)
	b.claim(t, claim("meanwhile", "net", 32))
	free()
	for range cap(done) {
		require.NoError(t, <-done)
	}
}
