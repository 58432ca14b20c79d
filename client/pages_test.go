package client_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// batch creates n claims in one request.
func (w world) batch(t testing.TB, n int) {
	t.Helper()
	var claims []client.IPClaimCreate
	for i := range n {
		claims = append(claims, client.IPClaimCreate{Metadata: client.CreateMetadata{Name: fmt.Sprintf("node-%02d", i)}, Spec: fromProd(28)})
	}
	_, err := w.CreateClaimBatch(t.Context(), "team-a", client.ClaimBatchCreate{Claims: claims})
	require.NoError(t, err)
	w.lose(0, false) // reset the recorded requests
}

func TestListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.batch(t, 7)
	limit := 3
	params := client.ListClaimsParams{Limit: &limit}

	t.Run("ItemsComeOnceInPagesOfTheRequestedSize", func(t *testing.T) {
		w.lose(0, false)
		var names []string
		for _, claim := range all(t, w.Claims(t.Context(), "team-a", params)) {
			names = append(names, claim.Metadata.Name)
		}
		require.Equal(t, []string{"node-00", "node-01", "node-02", "node-03", "node-04", "node-05", "node-06"}, names)
		require.Len(t, w.requests(), 3)
		for _, r := range w.requests() {
			require.Equal(t, strconv.Itoa(limit), r.URL.Query().Get("limit"))
		}
		require.Nil(t, params.Cursor, "the caller's parameters stay as they are")
	})
	t.Run("LoopThatEndsEarlyFetchesNoFurtherPage", func(t *testing.T) {
		w.lose(0, false)
		for range w.Claims(t.Context(), "team-a", params) {
			break
		}
		require.Len(t, w.requests(), 1)
	})
	t.Run("PageWithALostResponseIsRetried", func(t *testing.T) {
		w.lose(2, true)
		require.Len(t, all(t, w.Claims(t.Context(), "team-a", params)), 7)
		require.Len(t, w.requests(), 5)
	})
	t.Run("ContextEndsTheList", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		seen := 0
		for _, err := range w.Claims(ctx, "team-a", params) {
			if seen == limit { // this item is the first of the next page
				require.ErrorIs(t, err, context.Canceled)
				return
			}
			require.NoError(t, err)
			if seen++; seen == limit {
				cancel()
			}
		}
		t.Fatal("it went on without its context")
	})
	t.Run("RefusalIsTheLastItem", func(t *testing.T) {
		last := slices.Collect(func(yield func(error) bool) {
			for _, err := range w.Claims(t.Context(), "nobody") {
				if !yield(err) {
					return
				}
			}
		})
		require.Len(t, last, 1)
		require.True(t, client.IsNotFound(last[0]), last[0])
	})
}

// If a server always returns the same page, the client must not read it for ever.
func TestRepeatedPageEndsTheListWithAnError(t *testing.T) {
	t.Parallel()
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":[{}],"nextCursor":"again"}`))
	})
	items := 0
	for _, err := range c.Projects(t.Context()) {
		if err != nil {
			require.ErrorContains(t, err, "the same again")
			require.Equal(t, 2, items)
			return
		}
		items++
	}
	t.Fatal("it ended as if that were all")
}
