package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// inRegions implements the list of regions for an installation with two regions.
type inRegions struct {
	*scripted
	fail error
}

func (s *inRegions) ListRegions(context.Context) ([]ipam.Region, string, error) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	return []ipam.Region{{Name: "eu", CreatedAt: at}, {Name: "us", Ordinal: 1, CreatedAt: at.Add(time.Hour)}}, "us", s.fail
}

func TestRegions(t *testing.T) {
	t.Parallel()
	s := &inRegions{scripted: script()}
	w := serve(t, api.Config{Service: s}).do(t, "GET", "/v1/regions", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{"items": [
		{"name": "eu", "primary": true, "here": false, "createdAt": "2026-03-02T08:00:00Z"},
		{"name": "us", "primary": false, "here": true, "createdAt": "2026-03-02T09:00:00Z"}]}`, w.Body.String())

	s.fail = ipam.Errorf(ipam.CodeUnavailable, "The database does not answer.")
	problem(t, serve(t, api.Config{Service: s}).do(t, "GET", "/v1/regions", ""), http.StatusServiceUnavailable, gen.ProblemCodeUnavailable)
}
