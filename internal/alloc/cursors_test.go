package alloc_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPagesAreStableUnderConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	at := func(i int) ipam.Claim {
		return claimOf(fmt.Sprintf("c%03d", i), "net", hostAddress(fmt.Sprintf("10.0.0.%d", i)))
	}
	for i := 10; i <= 200; i += 10 {
		b.claim(t, at(i))
	}
	for _, c := range []struct {
		name string
		list func(cursor string) ([]string, string)
	}{
		{"ByName", func(cursor string) ([]string, string) {
			page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 3, cursor, usecase.Reading{})
			require.NoError(t, err)
			return names(page.Items), page.Next
		}},
		{"ByAddressInAPool", func(cursor string) ([]string, string) {
			page, err := b.ListClaims(b.ctx, project, paging.Filter{Pool: ref("net")}, 3, cursor, usecase.Reading{})
			require.NoError(t, err)
			return names(page.Items), page.Next
		}},
		{"AllocationsOfAPool", func(cursor string) ([]string, string) {
			page, err := b.ListAllocations(b.ctx, project, paging.Filter{Pool: ref("net")}, 3, cursor, usecase.Reading{})
			require.NoError(t, err)
			return holders(page.Items), page.Next
		}},
		{"AllocationsOfAProject", func(cursor string) ([]string, string) {
			page, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 3, cursor, usecase.Reading{})
			require.NoError(t, err)
			return holders(page.Items), page.Next
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]int{}
			var got []string
			for n, cursor := 0, ""; ; n++ {
				var page []string
				page, cursor = c.list(cursor)
				got = append(got, page...)
				for _, name := range page {
					seen[name]++
				}
				if cursor == "" {
					break
				}
				b.release(t, page[len(page)-1]) // the position of the cursor
				b.claim(t, at(1+n))             // before the cursor
			}
			for i := 10; i <= 200; i += 10 {
				require.Equal(t, 1, seen[at(i).Name], "what was there is seen once: %v", got)
			}
			for n := range 10 { // restores the initial state
				_ = b.DeleteClaim(b.ctx, project, at(1+n).Name, usecase.Request{})
			}
			for i := 10; i <= 200; i += 10 {
				_, _ = b.CreateClaim(b.ctx, project, at(i), usecase.Request{})
			}
		})
	}
}

func names(claims []ipam.Claim) []string {
	out := make([]string, len(claims))
	for i, c := range claims {
		out[i] = c.Name
	}
	return out
}

func holders(allocations []ipam.Allocation) []string {
	out := make([]string, len(allocations))
	for i, a := range allocations {
		out[i] = a.Holder.Name
	}
	return out
}

// setupLists makes a project in which each list has two pages. It returns a function for each list.
func setupLists(t *testing.T) (*bundle, map[string]func(cursor string) (next string, err error)) {
	t.Helper()
	b := setup(t)
	for _, name := range []string{"one", "two"} {
		_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta(name)}, usecase.Request{})
		require.NoError(t, err)
		_, err = b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(name)}, usecase.Request{})
		require.NoError(t, err)
		b.pool(t, root(name, "10.0.0.0/24", inSpace(name)))
		b.pool(t, root(name+"-six", "2001:db8::/64", inSpace(name)))
		for i := range 2 {
			b.claim(t, claim(fmt.Sprintf("%s-%d", name, i), name, 32))
			b.claim(t, claim(fmt.Sprintf("%s-six-%d", name, i), name+"-six", 128))
		}
	}
	return b, map[string]func(string) (string, error){
		"projects": func(c string) (string, error) {
			p, err := b.ListProjects(b.ctx, paging.Filter{}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"spaces": func(c string) (string, error) {
			p, err := b.ListSpaces(b.ctx, project, paging.Filter{}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"pools": func(c string) (string, error) {
			p, err := b.ListPools(b.ctx, project, paging.Filter{}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"claims": func(c string) (string, error) {
			p, err := b.ListClaims(b.ctx, project, paging.Filter{}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"claims of a pool": func(c string) (string, error) {
			p, err := b.ListClaims(b.ctx, project, paging.Filter{Pool: ref("one")}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"allocations": func(c string) (string, error) {
			p, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"allocations of a pool": func(c string) (string, error) {
			p, err := b.ListAllocations(b.ctx, project, paging.Filter{Pool: ref("one")}, 1, c, usecase.Reading{})
			return p.Next, err
		},
		"free blocks": func(c string) (string, error) {
			p, err := b.GetPoolFree(b.ctx, project, "one", nil, 1, c, usecase.Reading{})
			return p.Next, err
		},
	}
}

func TestCursorOfAnotherListIsRefused(t *testing.T) {
	t.Parallel()
	_, lists := setupLists(t)
	for from, make := range lists {
		cursor, err := make("")
		require.NoError(t, err)
		require.NotEmpty(t, cursor, from)
		for to, list := range lists {
			_, err := list(cursor)
			if from == to {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, "query:cursor", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer, "%s for %s", from, to)
		}
	}
}

// A page with the cursor of another list would look valid, but would miss items. So the server refuses such a cursor.
func TestCursorIsBoundToItsListAndFilters(t *testing.T) {
	t.Parallel()
	b, lists := setupLists(t)
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("stranger")}, usecase.Request{})
	require.NoError(t, err)
	first := func(list string) string {
		next, err := lists[list]("")
		require.NoError(t, err)
		require.NotEmpty(t, next, list)
		return next
	}
	for name, list := range map[string]func() error{
		"ClaimsOfAFamily": func() error {
			_, err := b.ListClaims(b.ctx, project, paging.Filter{Family: ipam.IPv6}, 1, first("claims"), usecase.Reading{})
			return err
		},
		"ClaimsWithALabel": func() error {
			s := matching("the", "one")
			_, err := b.ListClaims(b.ctx, project, paging.Filter{Labels: &s}, 1, first("claims"), usecase.Reading{})
			return err
		},
		"ClaimsOfAnotherPool": func() error {
			_, err := b.ListClaims(b.ctx, project, paging.Filter{Pool: ref("two")}, 1, first("claims of a pool"), usecase.Reading{})
			return err
		},
		"ClaimsWithinABlock": func() error {
			f := paging.Filter{Pool: ref("one"), Within: block("10.0.0.0/25")}
			_, err := b.ListClaims(b.ctx, project, f, 1, first("claims of a pool"), usecase.Reading{})
			return err
		},
		"ClaimsOfAnotherProject": func() error {
			_, err := b.ListClaims(b.ctx, "stranger", paging.Filter{}, 1, first("claims"), usecase.Reading{})
			return err
		},
		"SpacesOfAnotherProject": func() error {
			_, err := b.ListSpaces(b.ctx, "stranger", paging.Filter{}, 1, first("spaces"), usecase.Reading{})
			return err
		},
		"AllocationsInAPhase": func() error {
			_, err := b.ListAllocations(b.ctx, project, paging.Filter{Phase: string(ipam.PhaseRetained)}, 1, first("allocations"), usecase.Reading{})
			return err
		},
		"FreeBlocksOfAnotherPool": func() error {
			_, err := b.GetPoolFree(b.ctx, project, "two", nil, 1, first("free blocks"), usecase.Reading{})
			return err
		},
		"FreeBlocksForALength": func() error {
			_, err := b.GetPoolFree(b.ctx, project, "one", new(30), 1, first("free blocks"), usecase.Reading{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "query:cursor", refused(t, list(), ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
	t.Run("AnotherPageSizeIsTheSameList", func(t *testing.T) {
		page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 100, first("claims"), usecase.Reading{})
		require.NoError(t, err)
		require.NotEmpty(t, page.Items)
	})
	t.Run("HidesInternals", func(t *testing.T) {
		for name := range lists {
			raw, err := base64.RawURLEncoding.DecodeString(first(name))
			require.NoError(t, err)
			require.NotRegexp(t, `"\w{2,}":`, string(raw), name)
		}
	})
	t.Run("OfAServerWithoutCursorBinding", func(t *testing.T) {
		page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 100, alloc.SealCursor("claims", "one-0"), usecase.Reading{})
		require.NoError(t, err)
		require.NotEmpty(t, page.Items)
	})
}

func TestMalformedCursorIsRefused(t *testing.T) {
	t.Parallel()
	b, lists := setupLists(t)
	sealed := func(kind, at string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"k":"` + kind + `","a":` + at + `}`))
	}
	for _, bad := range []string{
		"x", "not base64!", "....", base64.RawURLEncoding.EncodeToString([]byte("{")), base64.RawURLEncoding.EncodeToString([]byte("null")),
		base64.RawURLEncoding.EncodeToString([]byte(`{"k":"claims"}`)), sealed("claims", `7`), sealed("claims", `"No Name"`), sealed("claims", `""`),
		sealed("claims", `"a\u0000"`), sealed("claims-in-pool", `"10.0.0"`), sealed("allocations", `"x"`), sealed("free", `"10.0.0.0"`),
		sealed("pools", `"`+string(make([]byte, 70))+`"`), sealed("held", `null`), sealed("held", `{}`), sealed("free", `""`), sealed("events", `null`),
		sealed("claims", `"n03","zz":1`), sealed("claims", `"n03"}{`), sealed("held", `{"c":"`+ipam.NewID().String()+`","b":"10.0.0.0","x":1}`),
	} {
		for name, list := range lists {
			_, err := list(bad)
			require.Equal(t, "query:cursor", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer, "%q for %s", bad, name)
		}
	}
	t.Run("OfTheOtherFamily", func(t *testing.T) {
		six, err := b.ListClaims(b.ctx, project, paging.Filter{Pool: ref("one-six")}, 1, "", usecase.Reading{})
		require.NoError(t, err)
		_, err = lists["claims of a pool"](six.Next)
		refused(t, err, ipam.CodeInvalidArgument)
		held, err := b.ListAllocations(b.ctx, project, paging.Filter{Pool: ref("one-six")}, 1, "", usecase.Reading{})
		require.NoError(t, err)
		_, err = lists["allocations of a pool"](held.Next)
		refused(t, err, ipam.CodeInvalidArgument)
		free, err := b.GetPoolFree(b.ctx, project, "one-six", nil, 1, "", usecase.Reading{})
		require.NoError(t, err)
		_, err = lists["free blocks"](free.Next)
		refused(t, err, ipam.CodeInvalidArgument)
	})
}

// A filter with few matches ends a page early. Only the cursor shows whether more pages exist.
func TestPageWithFewMatchesContinuesAtItsCursor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	for n := range 6 {
		claims := make([]ipam.Claim, 1000)
		for i := range claims {
			claims[i] = claim(fmt.Sprintf("c%d-%03d", n, i), "net", 32)
			if n == 5 && i == 999 {
				claims[i].Labels = labels("the", "one")
			}
		}
		_, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
		require.NoError(t, err)
	}
	s := matching("the", "one")
	first, err := b.ListClaims(b.ctx, project, paging.Filter{Labels: &s}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, first.Items)
	require.NotEmpty(t, first.Next)
	second, err := b.ListClaims(b.ctx, project, paging.Filter{Labels: &s}, 10, first.Next, usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, []string{"c5-999"}, names(second.Items))
	require.Empty(t, second.Next)
}
