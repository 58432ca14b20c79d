package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// A problem has Retry-After exactly if a retry may succeed.
func TestEveryRetryableProblemHasRetryAfter(t *testing.T) {
	t.Parallel()
	for code, k := range kinds {
		h := http.Header{}
		setErrorHeaders(h, k.Status, ipam.Errorf(code, "Not so."))
		again := slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, k.Status)
		require.Equal(t, again, h.Get("Retry-After") != "", "%s, %d", code, k.Status)
	}
}
