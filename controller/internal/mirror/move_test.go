package mirror_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// force deletes an object without its finalizers.
func (s story) force(o client.Object) {
	s.Helper()
	none := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":[]}}`))
	require.NoError(s, client.IgnoreNotFound(world.Client.Patch(s.Context(), o, none)))
	require.NoError(s, client.IgnoreNotFound(world.Client.Delete(s.Context(), o)))
}

// TestRestoredPoolAdoptsItsPoolInCarve recreates an IPPool under its name, as a restore does. It has another UID and no status.
func TestRestoredPoolAdoptsItsPoolInCarve(t *testing.T) {
	s := begin(t)
	s.run()
	p := s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonPoolCreated, "")
	was := s.remote("web").Metadata.UID
	s.claim("a", "web", 30)
	s.force(p)
	p = s.pool("web", sixteen)
	s.becomes(p, meta.ConditionTrue, ipam.ReasonReconciled, "")
	require.Equal(t, was, p.Status.Remote.UID)
	require.Equal(t, string(p.UID), s.remote("web").Metadata.Annotations["ipam.carve.dev/uid"])
	s.release("a")
	s.remove(p)
	s.vanishes(p)
	require.Nil(t, s.remote("web"))
}

// vanishing is a transport to the API server. An IPPool vanishes there after its finalizer was accepted, and before the response arrives.
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
	if name, ok := strings.CutPrefix(r.URL.Path, "/apis/ipam.carve.dev/v1alpha1/ippools/"); err == nil && ok && bytes.Contains(body, []byte("finalizers")) {
		v.force(&ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: name}})
	}
	return answer, err
}

func TestPoolDeletedDuringItsCreationIsDeletedInCarve(t *testing.T) {
	s := begin(t)
	way := &vanishing{story: s}
	toCluster := rest.CopyConfig(world.Config)
	toCluster.Wrap(func(next http.RoundTripper) http.RoundTripper { way.next = next; return way })
	s.runs(toCluster)
	p := s.pool("web", sixteen)
	s.vanishes(p)
	s.eventually("Carve has made the pool, and has deleted it", func() bool { return s.line.others.Load() >= 4 && s.remote("web") == nil })
}
