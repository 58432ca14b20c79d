package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// definitions returns the schemas for Kubernetes' own kinds, from the API server release that tools/kubeapi builds.
var definitions = sync.OnceValues(func() (map[string]any, error) {
	cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes")
	cmd.Dir = "../kubeapi"
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download k8s.io/kubernetes in tools/kubeapi: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(module.Dir, "api/openapi-spec/swagger.json"))
	if err != nil {
		return nil, err
	}
	var swagger struct{ Definitions map[string]any }
	return swagger.Definitions, json.Unmarshal(file, &swagger)
})

// strict converts OpenAPI schemas to JSON schemas. They refuse unknown fields, as the API server does in strict mode, and allow a number or a string
// where both are valid.
func strict(node any) any {
	switch n := node.(type) {
	case []any:
		for i := range n {
			n[i] = strict(n[i])
		}
	case map[string]any:
		if n["format"] == "int-or-string" || n["x-kubernetes-int-or-string"] == true {
			return map[string]any{"type": []any{"string", "integer"}}
		}
		for k := range n {
			n[k] = strict(n[k])
		}
		_, fields := n["properties"].(map[string]any)
		if _, said := n["additionalProperties"]; fields && !said && n["x-kubernetes-preserve-unknown-fields"] != true {
			n["additionalProperties"] = false
		}
		if _, word := n["format"].(string); word { // and not a field with this name
			delete(n, "format") // int32, byte and so on belong to Go, and not to JSON schema
		}
	}
	return node
}

// validator returns each kind's schema, by "apiVersion/kind".
func validator(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all, err := definitions()
	require.NoError(t, err)
	all = maps.Clone(all)
	where := map[string]string{}
	for name, definition := range all {
		for _, gvk := range asList(dig(definition, "x-kubernetes-group-version-kind")) {
			version, _ := dig(gvk, "version").(string)
			if group, _ := dig(gvk, "group").(string); group != "" {
				version = group + "/" + version
			}
			where[fmt.Sprintf("%s/%v", version, dig(gvk, "kind"))] = name
		}
	}
	crds, err := filepath.Glob("testdata/crds/*.yaml")
	require.NoError(t, err)
	for _, path := range crds {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		var crd map[string]any
		require.NoError(t, yaml.Unmarshal(file, &crd))
		schema := dig(crd, "spec", "versions", 0, "schema", "openAPIV3Schema")
		dig(schema, "properties").(map[string]any)["metadata"] = map[string]any{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
		all[path] = schema
		where[fmt.Sprintf("%v/v1/%v", dig(crd, "spec", "group"), dig(crd, "spec", "names", "kind"))] = path
	}
	// A quantity may be written as a number, although its schema differs.
	all["io.k8s.apimachinery.pkg.api.resource.Quantity"] = map[string]any{"type": []any{"string", "number"}}
	// Through JSON, so that the strict copy shares nothing with other tests.
	text, err := json.Marshal(map[string]any{"definitions": all})
	require.NoError(t, err)
	var copied any
	require.NoError(t, json.Unmarshal(text, &copied))
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft7)
	require.NoError(t, compiler.AddResource("kubernetes.json", strict(copied)))
	kinds := map[string]*jsonschema.Schema{}
	for kind, name := range where {
		switch kind {
		case "v1/Secret", "v1/Service", "v1/ServiceAccount", "v1/ConfigMap", "v1/Pod", "apps/v1/Deployment", "batch/v1/Job", "batch/v1/CronJob",
			"policy/v1/PodDisruptionBudget", "autoscaling/v2/HorizontalPodAutoscaler", "networking.k8s.io/v1/NetworkPolicy", "networking.k8s.io/v1/Ingress",
			"rbac.authorization.k8s.io/v1/ClusterRole", "rbac.authorization.k8s.io/v1/ClusterRoleBinding", "rbac.authorization.k8s.io/v1/Role",
			"rbac.authorization.k8s.io/v1/RoleBinding", "apiextensions.k8s.io/v1/CustomResourceDefinition",
			"monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule", "gateway.networking.k8s.io/v1/HTTPRoute",
			"cert-manager.io/v1/Certificate":
			schema, err := compiler.Compile("kubernetes.json#/definitions/" + pointer(name))
			require.NoError(t, err, kind)
			kinds[kind] = schema
		}
	}
	return kinds
}

func TestEveryChartObjectIsValid(t *testing.T) {
	t.Parallel()
	kinds := validator(t)
	for name, path := range valuesFiles(t) {
		for _, object := range objects(t, render(t, source, "--values="+path)) {
			kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
			require.Contains(t, kinds, kind, "a kind that this test does not know")
			assert.NoError(t, kinds[kind].Validate(object), "%s of %s", label(object), name)
		}
	}
}

// The strict schemas refuse misspelled fields, which lax ones would accept.
func TestMisspelledFieldIsRefused(t *testing.T) {
	t.Parallel()
	kinds := validator(t)
	for _, object := range objects(t, render(t, source, "--values=testdata/values/everything.yaml")) {
		kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
		spec, ok := object["spec"].(map[string]any)
		if !ok {
			continue
		}
		spec["mispelled"] = true
		assert.Error(t, kinds[kind].Validate(object), label(object))
	}
}

func asList(of any) []any {
	list, _ := of.([]any)
	return list
}

// pointer escapes a name for a JSON pointer in a URL.
func pointer(name string) string {
	escaped := ""
	for _, r := range name {
		switch r {
		case '~':
			escaped += "~0"
		case '/':
			escaped += "~1"
		default:
			escaped += string(r)
		}
	}
	return escaped
}
