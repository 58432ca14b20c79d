package claims_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// vanishing is a way to the API server on which an IPClaim vanishes when its finalizer was accepted, and before the answer comes: the API server does so
// to an object that somebody deletes at the same time.
type vanishing struct {
	story
	next http.RoundTripper
}

func (v *vanishing) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := v.next.RoundTrip(r)
	parts := strings.Split(r.URL.Path, "/")
	if err == nil && r.Method == http.MethodPatch && parts[len(parts)-2] == "ipclaims" && bytes.Contains(body, []byte("finalizers")) {
		c := &ipam.IPClaim{}
		c.Namespace, c.Name = v.name, parts[len(parts)-1]
		v.force(c)
	}
	return answer, err
}

// TestNothingIsHeldForAClaimThatIsDeletedWhileItIsMade makes more claims than the sweep would release.
func TestNothingIsHeldForAClaimThatIsDeletedWhileItIsMade(t *testing.T) {
	s := begin(t)
	way := &vanishing{story: s}
	toCluster := rest.CopyConfig(world.Config)
	toCluster.Wrap(func(next http.RoundTripper) http.RoundTripper { way.next = next; return way })
	stop := s.runs(toCluster)
	for round := range 3 { // the pool has sixteen addresses
		var all []*ipam.IPClaim
		for i := range 10 {
			all = append(all, s.claim(fmt.Sprintf("web-%d-%d", round, i), one))
		}
		for _, c := range all {
			s.vanishes(c)
		}
		s.eventually("nothing is held", func() bool { return len(s.held()) == 0 })
	}
	stop()
	require.Empty(t, s.held())
	c := s.claim("kept", one)
	s.run()
	s.bound(c)
	require.NoError(t, world.Client.Delete(t.Context(), c, client.Preconditions{UID: &c.UID}))
	s.vanishes(c)
}
