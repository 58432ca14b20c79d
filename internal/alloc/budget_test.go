package alloc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// purse is a budget that writes down what it is charged.
type purse struct {
	charged, added tenancy.Work
	empty          bool
}

// Charge implements tenancy.Budget.
func (p *purse) Charge(w tenancy.Work) error {
	if p.empty {
		return ipam.Errorf(ipam.CodeRateLimited, "There is nothing left.")
	}
	p.charged.Blocks += w.Blocks
	return nil
}

// Add implements tenancy.Budget.
func (p *purse) Add(w tenancy.Work) {
	p.added.Rows += w.Rows
}

func TestABatchIsChargedByItsBlocksBeforeAnythingIsLookedFor(t *testing.T) {
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

func TestAListIsChargedByTheRowsItLooksAt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err := b.CreateClaimBatch(b.ctx, project, manyClaims("c", "net", 700, 32), usecase.Request{})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		filter paging.Filter
		rows   int
	}{
		"Nothing":         {paging.Filter{}, 11},
		"ContainsMisses":  {paging.Filter{Contains: netip.MustParseAddr("192.0.2.1")}, 700},
		"SelectorMisses":  {paging.Filter{Labels: &ipam.Selector{MatchLabels: map[string]string{"a": "b"}}}, 700},
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

// Lists that look at many rows wait for each other, project by project, and not for a connection that claims need.
func TestSearchesOfOneProjectHaveFewPlaces(t *testing.T) {
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
	done := make(chan error, 2)
	for _, f := range []paging.Filter{misses, inPool} {
		go func() {
			_, err := b.ListClaims(b.ctx, project, f, 10, "", usecase.Reading{})
			done <- err
		}()
	}
	waitFor(t, func() bool { return b.Searching() == 2 })
	page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err, "what finds its page at once needs no place")
	require.Len(t, page.Items, 10)
	b.claim(t, claim("meanwhile", "net", 32))
	free()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}
