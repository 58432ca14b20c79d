package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorization "k8s.io/api/authorization/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const controllerChart = "../../../helm/carve-controller"

// TestControllerChartKeepsClaimsThroughItsLife checks the definitions and rights of the chart through its life. It runs no pods
// (controller/internal/installed runs the program with the chart's rights).
func TestControllerChartKeepsClaimsThroughItsLife(t *testing.T) {
	plane := startControlPlane(t)
	plane.namespace(t, namespace)
	client := plane.dynamic(t)
	claims := client.Resource(schema.GroupVersionResource{Group: "ipam.carve.dev", Version: "v1alpha1", Resource: "ipclaims"}).Namespace(namespace)
	values := func(verb, chart string) []string {
		return []string{verb, "carve-controller", chart, "--set=carve.url=https://carve.network.svc,carve.project=cluster-a,carve.keySecret.name=carve-key"}
	}
	names := func() any {
		definition, err := client.Resource(crds).Get(t.Context(), "ipclaims.ipam.carve.dev", meta.GetOptions{})
		require.NoError(t, err)
		short, _, err := unstructured.NestedStringSlice(definition.Object, "spec", "names", "shortNames")
		require.NoError(t, err)
		return short
	}

	_, err := plane.helm(t, namespace, values("install", before(t))...)
	require.NoError(t, err)
	require.Equal(t, []string{"earlier"}, names())
	_, err = plane.helm(t, namespace, values("upgrade", controllerChart)...)
	require.NoError(t, err)
	require.Equal(t, []string{"ipc"}, names(), "an upgrade brings definitions along")

	for _, asked := range []struct {
		of      authorization.ResourceAttributes
		allowed bool
	}{
		{authorization.ResourceAttributes{Group: "ipam.carve.dev", Resource: "ipclaims", Subresource: "status", Verb: "patch", Namespace: "anywhere"}, true},
		{authorization.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Verb: "create", Namespace: namespace}, true},
		{authorization.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Verb: "create", Namespace: "anywhere"}, false},
		{authorization.ResourceAttributes{Resource: "pods", Verb: "delete", Namespace: "anywhere"}, false},
		{authorization.ResourceAttributes{Resource: "secrets", Verb: "get", Namespace: "anywhere"}, false},
	} {
		review := &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + namespace + ":carve-controller", ResourceAttributes: &asked.of,
		}}
		answer, err := plane.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, meta.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, asked.allowed, answer.Status.Allowed, "%v", asked.of)
	}

	_, err = claims.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "ipam.carve.dev/v1alpha1", "kind": "IPClaim", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"prefixLength": int64(28)},
	}}, meta.CreateOptions{})
	require.NoError(t, err)
	_, err = plane.helm(t, namespace, "uninstall", "carve-controller")
	require.NoError(t, err)
	_, err = claims.Get(t.Context(), "web", meta.GetOptions{})
	require.NoError(t, err, "claims stay when the controller goes")
	_, err = plane.helm(t, namespace, values("install", controllerChart)...)
	require.NoError(t, err, "and it can come back")
}

// before returns a possible earlier chart, with another definition of IPClaims.
func before(t *testing.T) string {
	t.Helper()
	chart := filepath.Join(t.TempDir(), "carve-controller")
	require.NoError(t, os.CopyFS(chart, os.DirFS(controllerChart)))
	path := filepath.Join(chart, "objects", "ipam.carve.dev_ipclaims.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal(text, &definition))
	require.NoError(t, unstructured.SetNestedStringSlice(definition, []string{"earlier"}, "spec", "names", "shortNames"))
	text, err = yaml.Marshal(definition)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return chart
}
