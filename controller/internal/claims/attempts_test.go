package claims_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
)

// vanishing is a connection to the API server that deletes an IPClaim when the API server has accepted its finalizer, and before the controller gets
// the response. The API server does so to an object that another client deletes at the same time.
type vanishing struct {
	story
	next http.RoundTripper

	mu sync.Mutex
	// late are the IPClaims that the controller wrote to after their deletion. It has asked Carve for their blocks before.
	late map[string]bool
}

func (v *vanishing) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := v.next.RoundTrip(r)
	parts := strings.Split(r.URL.Path, "/")
	if err != nil || r.Method != http.MethodPatch || parts[len(parts)-2] != "ipclaims" {
		return answer, err
	}
	name := parts[len(parts)-1]
	switch {
	case answer.StatusCode == http.StatusNotFound:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.late[name] = true
	case bytes.Contains(body, []byte("finalizers")):
		v.force(&ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: v.name, Name: name}})
	}
	return answer, err
}

func (v *vanishing) wroteLateTo(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.late[name]
}

// TestClaimDeletedDuringItsCreationHoldsNoBlock runs the controller without the sweep, which would release the blocks later.
func TestClaimDeletedDuringItsCreationHoldsNoBlock(t *testing.T) {
	s := begin(t)
	way := &vanishing{story: s, late: map[string]bool{}}
	toCluster := rest.CopyConfig(world.Config)
	toCluster.Wrap(func(next http.RoundTripper) http.RoundTripper { way.next = next; return way })
	stop := s.runs(toCluster)
	for round := range 3 { // the pool has sixteen addresses
		var all []*ipam.IPClaim
		for i := range 10 {
			all = append(all, s.claim(fmt.Sprintf("web-%d-%d", round, i), one))
		}
		for _, c := range all {
			s.eventually("the controller has claimed a block", func() bool { return way.wroteLateTo(c.Name) })
		}
		s.eventually("nothing is held", func() bool { return len(s.held()) == 0 })
	}
	stop()

	// The controller may have begun one more attempt from its cache before it stopped. The sweep of the next controller releases that block.
	c := s.claim("kept", one)
	s.runs(world.Config, func(manager ctrl.Manager, r *claims.Reconciler) error {
		return manager.Add(&claims.Sweep{Of: r, Every: time.Hour})
	})
	s.bound(c)
	s.eventually("only the block of the kept claim is held", func() bool { return slices.Equal(s.held(), []string{c.Status.CIDR}) })
	require.NoError(t, world.Client.Delete(t.Context(), c, client.Preconditions{UID: &c.UID}))
	s.vanishes(c)
	require.Empty(t, s.held())
}
