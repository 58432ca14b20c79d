package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

const (
	chartDir = "../../../helm/carve"
	release  = "ipam"
)

// helm runs the binary against the API server.
func (p *controlPlane) helm(t *testing.T, namespace string, args ...string) (string, error) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), helmBinary, append(args, "--namespace="+namespace)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	t.Logf("helm %s: %.1f s", args[0], time.Since(began).Seconds())
	if err != nil {
		return out.String(), fmt.Errorf("helm %v: %w: %s", args, err, out.String())
	}
	return out.String(), nil
}

// dynamic returns a client for objects of any kind.
func (p *controlPlane) dynamic(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	require.NoError(t, err)
	config.QPS, config.Burst = 1000, 1000
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// namespace makes a namespace with restricted pod security, in which the API server refuses other pods.
func (p *controlPlane) namespace(t *testing.T, name string) {
	t.Helper()
	_, err := p.CoreV1().Namespaces().Create(t.Context(), &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}, meta.CreateOptions{})
	require.NoError(t, err)
	// The controller manager's work: a pod needs an existing ServiceAccount.
	_, err = p.CoreV1().ServiceAccounts(name).Create(t.Context(), &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: "default"}}, meta.CreateOptions{})
	require.NoError(t, err)
}

func (p *controlPlane) secret(t *testing.T, namespace, name string, kind core.SecretType, files map[string][]byte) {
	t.Helper()
	_, err := p.CoreV1().Secrets(namespace).Create(t.Context(), &core.Secret{ObjectMeta: meta.ObjectMeta{Name: name}, Type: kind, Data: files}, meta.CreateOptions{})
	require.NoError(t, err)
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// extend installs the kinds of the Prometheus operator and the Gateway API, and waits until the API server serves them.
func (p *controlPlane) extend(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("../testdata/crds/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	client := p.dynamic(t)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var crd unstructured.Unstructured
		require.NoError(t, yaml.Unmarshal(text, &crd.Object))
		_, err = client.Resource(crds).Create(t.Context(), &crd, meta.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			now, err := client.Resource(crds).Get(ctx, crd.GetName(), meta.GetOptions{})
			if err != nil {
				return false, err
			}
			conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions") // null at first
			return slices.ContainsFunc(conditions, func(c any) bool {
				condition, _ := c.(map[string]any)
				return condition["type"] == "Established" && condition["status"] == "True"
			}), nil
		}), path)
	}
}

// everything lists a namespace's objects, of every kind that the API server knows.
func (p *controlPlane) everything(t *testing.T, namespace string) []string {
	t.Helper()
	kinds, err := discovery.ServerPreferredNamespacedResources(p.Discovery())
	require.NoError(t, err)
	client := p.dynamic(t)
	var all []string
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		require.NoError(t, err)
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Name == "events" {
				continue
			}
			list, err := client.Resource(version.WithResource(kind.Name)).Namespace(namespace).List(t.Context(), meta.ListOptions{})
			require.NoError(t, err, kind.Name)
			for _, item := range list.Items {
				all = append(all, kind.Name+"/"+item.GetName())
			}
		}
	}
	slices.Sort(all)
	return all
}
