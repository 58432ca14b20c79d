package chart

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const source = "../../helm/carve"

// binary is the path of the helm binary that make built; TestMain fails without it.
var binary = func() string {
	if named := os.Getenv("CARVE_HELM"); named != "" {
		return named
	}
	return "../../bin/helm"
}()

func TestMain(m *testing.M) {
	if _, err := os.Stat(binary); err != nil {
		fmt.Fprintln(os.Stderr, "there is no helm to test with: run `make chart-test`, which builds bin/helm, or name one in CARVE_HELM:", err)
		os.Exit(1)
	}
	code := m.Run()
	if programsDir != "" {
		_ = os.RemoveAll(programsDir)
	}
	os.Exit(code)
}

// helm returns the binary's output, and an error with its messages.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home, "KUBECONFIG="+filepath.Join(home, "none"))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s%s", err, out.String(), said.String())
	}
	return out.String(), nil
}

// valuesFiles returns all values files that the tests render: the chart's, and additional ones.
func valuesFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{source + "/values-*.yaml", "testdata/values/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, path := range found {
			files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = path
		}
	}
	return files
}

// withFolders copies the chart with other alerts and dashboards, so that changes to them do not change the rendered output; "" is with none.
func withFolders(t *testing.T, folders string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "carve")
	require.NoError(t, os.CopyFS(dir, os.DirFS(source)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "alerts")))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "dashboards")))
	if folders != "" {
		require.NoError(t, os.CopyFS(dir, os.DirFS(folders)))
	}
	return dir
}

// render returns the rendered objects, with hooks and tests.
func render(t *testing.T, chart string, args ...string) string {
	t.Helper()
	out, err := helm(t, append([]string{"template", "ipam", chart, "--namespace=network", "--kube-version=1.36.3"}, args...)...)
	require.NoError(t, err)
	return out
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// objects parses the rendered objects.
func objects(t *testing.T, rendered string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, doc := range separator.Split(rendered, -1) {
		var object map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(doc), &object), doc)
		if len(object) > 0 {
			all = append(all, object)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// dig returns the value at a path of an object, or nil if the path does not exist.
func dig(object any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := object.(map[string]any)
			object = m[key]
		case int:
			l, _ := object.([]any)
			if key >= len(l) {
				return nil
			}
			object = l[key]
		}
	}
	return object
}

func label(object map[string]any) string {
	return fmt.Sprintf("%v/%v", object["kind"], dig(object, "metadata", "name"))
}
