package install

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// accepted creates every object of each values file as a dry run on the API server, in strict mode: unknown and duplicate fields are errors. It also
// creates the pods of Deployments, Jobs and CronJobs, in a namespace that only admits restricted pods.
func accepted(t *testing.T, plane *controlPlane) {
	t.Helper()
	const namespace = "dry"
	plane.namespace(t, namespace)
	resources, err := restmapper.GetAPIGroupResources(plane.Discovery())
	require.NoError(t, err)
	mapper, client := restmapper.NewDiscoveryRESTMapper(resources), plane.dynamic(t)
	shipped, err := filepath.Glob(chartDir + "/values-*.yaml")
	require.NoError(t, err)
	tested, err := filepath.Glob("../testdata/values/*.yaml")
	require.NoError(t, err)
	for _, values := range append(shipped, tested...) {
		t.Run(strings.TrimSuffix(filepath.Base(values), ".yaml"), func(t *testing.T) {
			_, err := plane.helm(t, namespace, "install", release, chartDir, "--values="+values, "--dry-run=server")
			require.NoError(t, err)
			out, err := plane.helm(t, namespace, "template", release, chartDir, "--values="+values)
			require.NoError(t, err)
			count := 0
			for _, doc := range separator.Split(out, -1) {
				var object unstructured.Unstructured
				require.NoError(t, yaml.Unmarshal([]byte(doc), &object.Object))
				if len(object.Object) == 0 {
					continue
				}
				count++
				kind := object.GroupVersionKind()
				where, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
				require.NoError(t, err)
				_, err = client.Resource(where.Resource).Namespace(namespace).Create(t.Context(), &object, meta.CreateOptions{DryRun: []string{meta.DryRunAll}, FieldValidation: meta.FieldValidationStrict})
				assert.NoError(t, err, "%s %s", kind.Kind, object.GetName())
				if pod := podOf(t, &object); pod != nil {
					_, err = plane.CoreV1().Pods(namespace).Create(t.Context(), pod, meta.CreateOptions{DryRun: []string{meta.DryRunAll}, FieldValidation: meta.FieldValidationStrict})
					assert.NoError(t, err, "the pod of %s %s", kind.Kind, object.GetName())
				}
			}
			assert.Greater(t, count, 3)
		})
	}
}

// podOf returns an object's pod, with an existing ServiceAccount.
func podOf(t *testing.T, object *unstructured.Unstructured) *core.Pod {
	t.Helper()
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		template, found, _ := unstructured.NestedMap(object.Object, path...)
		if !found {
			continue
		}
		var typed core.PodTemplateSpec
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, &typed))
		pod := &core.Pod{ObjectMeta: typed.ObjectMeta, Spec: typed.Spec}
		pod.GenerateName = "dry-"
		pod.Spec.ServiceAccountName = "default"
		return pod
	}
	return nil
}

// refusesOthers checks that this namespace refuses an unrestricted pod, so that its admission of our pods means something.
func refusesOthers(t *testing.T, plane *controlPlane) {
	t.Helper()
	_, err := plane.CoreV1().Pods("dry").Create(t.Context(), &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: "soft"}, Spec: core.PodSpec{Containers: []core.Container{{Name: "soft", Image: "soft"}}},
	}, meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	assert.ErrorContains(t, err, `violates PodSecurity "restricted:latest"`)
}
