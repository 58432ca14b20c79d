package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// An unauthenticated caller must not find out whether an operation takes a body.
func TestUnsupportedBodyIsRefusedAfterTheCredentials(t *testing.T) {
	t.Parallel()
	l := budgeted(t)
	for name, request := range map[string][2]string{
		"Confirmation": {http.MethodPost, "/v1/projects/acme/realms/default/expiry-confirmations"},
		"Delete":       {http.MethodDelete, poolsPath + "/p"},
		"Grant":        {http.MethodPut, poolsPath + "/p/grants/umbrella"},
		"Read":         {http.MethodGet, poolsPath},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, announced := range []int64{2, -1} {
				r := httptest.NewRequestWithContext(t.Context(), request[0], request[1], strings.NewReader(`{}`))
				r.ContentLength = announced
				problem(t, l.send(t, r), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
			}
		})
	}
}
