package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/ipam"
)

// attached implements the use case that attaches a consumer. before reports that the consumer was attached already.
type attached struct {
	nobody
	before bool
}

func (s attached) AttachConsumer(_ context.Context, project, claim string, _ ipam.NewConsumer, _ usecase.Request) (usecase.Result[ipam.Claim], error) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	return usecase.Result[ipam.Claim]{Existed: s.before, Value: ipam.Claim{
		Metadata: ipam.Metadata{Name: claim, Project: project, UID: ipam.NewID(), Generation: 1, Revision: ipam.NewID(), CreatedAt: at, UpdatedAt: at},
		Block:    netip.MustParsePrefix("10.0.0.0/24"), Pool: ipam.Ref{Project: project, Name: "p"}, ReclaimPolicy: ipam.ReclaimDelete,
	}}, nil
}

// The response contains the claim, and Location has the claim's path.
func TestAttachReturnsTheClaimAndItsLocation(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/team-a/claims/consumers/consumers/vm:1"
	w := serve(t, api.Config{Service: attached{}}).do(t, "PUT", path+"?realm=rack", `{}`)
	require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
	require.Equal(t, "/v1/projects/team-a/claims/consumers", w.Header().Get("Location"))
	w = serve(t, api.Config{Service: attached{before: true}}).do(t, "PUT", path, `{}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Empty(t, w.Header().Get("Location"))
}
