package chart

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// The chart of the Kubernetes controller.
const controllerSource = "../../helm/carve-controller"

func controllerValues(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob("testdata/controller/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	files := map[string]string{}
	for _, path := range found {
		files["controller-"+strings.TrimSuffix(filepath.Base(path), ".yaml")] = path
	}
	return files
}

// withoutDefinitions copies the chart without its definitions, so that changes to them do not change the rendered output.
func withoutDefinitions(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "carve-controller")
	require.NoError(t, os.CopyFS(dir, os.DirFS(controllerSource)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "objects")))
	return dir
}

func TestControllerChartMatchesItsGoldenFiles(t *testing.T) {
	t.Parallel()
	chart := withoutDefinitions(t)
	for name, path := range controllerValues(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name+".yaml", render(t, chart, "--values="+path))
			out, err := helm(t, "install", "ipam", controllerSource, "--namespace=network", "--dry-run=client", "--values="+path)
			require.NoError(t, err)
			_, notes, found := strings.Cut(out, "NOTES:\n")
			require.True(t, found, out)
			golden(t, name+".notes.txt", notes)
			out, err = helm(t, "lint", "--strict", controllerSource, "--values="+path)
			require.NoError(t, err, out)
		})
	}
}

func TestEveryControllerChartObjectIsValid(t *testing.T) {
	t.Parallel()
	kinds := validator(t)
	for name, path := range controllerValues(t) {
		for _, object := range objects(t, render(t, controllerSource, "--values="+path)) {
			kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
			require.Contains(t, kinds, kind, "a kind that this test does not know")
			assert.NoError(t, kinds[kind].Validate(object), "%s of %s", label(object), name)
		}
	}
}

// The definitions in the chart are the same as in the controller's tests; `make generate` writes both. An uninstallation keeps them: it would
// otherwise delete all claims.
func TestChartHasTheControllersDefinitions(t *testing.T) {
	t.Parallel()
	rendered := map[string]map[string]any{}
	for _, object := range objects(t, render(t, controllerSource, "--values=testdata/controller/minimal.yaml")) {
		if object["kind"] == "CustomResourceDefinition" {
			rendered[dig(object, "metadata", "name").(string)] = object
		}
	}
	files, err := filepath.Glob("../../controller/config/crd/*.yaml")
	require.NoError(t, err)
	require.Len(t, rendered, len(files))
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var want map[string]any
		require.NoError(t, kyaml.Unmarshal(text, &want))
		got := rendered[dig(want, "metadata", "name").(string)]
		assert.Equal(t, want["spec"], got["spec"], path)
		assert.Equal(t, "keep", dig(got, "metadata", "annotations", "helm.sh/resource-policy"), path)
	}
}

func TestTheControllersPodsAreHardened(t *testing.T) {
	t.Parallel()
	for name, path := range controllerValues(t) {
		for owner, spec := range podSpecs(t, objects(t, render(t, controllerSource, "--values="+path))) {
			what := fmt.Sprintf("%s of %s", owner, name)
			assert.Equal(t, true, dig(spec, "securityContext", "runAsNonRoot"), what)
			assert.Equal(t, "RuntimeDefault", dig(spec, "securityContext", "seccompProfile", "type"), what)
			assert.Equal(t, false, spec["enableServiceLinks"], what)
			user := dig(spec, "securityContext", "runAsUser")
			assert.Equal(t, strings.HasSuffix(name, "platform-users"), user == nil, what)
			for _, container := range containers(spec) {
				assert.Equal(t, map[string]any{
					"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "privileged": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
				}, dig(container, "securityContext"), what)
				for _, field := range []string{"cpu", "memory"} {
					assert.NotNil(t, dig(container, "resources", "requests", field), what)
				}
				assert.NotNil(t, dig(container, "resources", "limits", "memory"), what)
			}
		}
	}
}

// controllerProgram builds the image's /carve-controller from this commit.
var controllerProgram = sync.OnceValues(func() (string, error) {
	dir, err := programs()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/", "./cmd/carve-controller")
	cmd.Dir = "../../controller"
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir + "/carve-controller", nil
})

// The controller accepts all arguments together: it then fails because the cluster is missing (1), and not because of its flags (2).
func TestControllerAcceptsTheChartsArguments(t *testing.T) {
	t.Parallel()
	program, err := controllerProgram()
	require.NoError(t, err)
	files := t.TempDir()
	certificate, key := selfSigned(t)
	for path, content := range map[string][]byte{"key/key": []byte("a-key"), "key/api-key": []byte("a-key"), "ca/ca.crt": certificate, "client/tls.crt": certificate, "client/tls.key": key} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(files, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(files, path), content, 0o600))
	}
	start := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = []string{"KUBECONFIG=" + filepath.Join(files, "none")}
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	for name, path := range controllerValues(t) {
		for owner, spec := range podSpecs(t, objects(t, render(t, controllerSource, "--values="+path))) {
			assert.Equal(t, "/carve-controller", dig(spec, "containers", 0, "command", 0))
			args := texts(dig(spec, "containers", 0, "args"))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "/etc/carve", files)
			}
			code, said := start(args...)
			assert.Equal(t, 1, code, "%s of %s: %s", owner, name, said)
			code, said = start(append(args, "--no-such-flag")...)
			assert.Equal(t, 2, code, "what is not a flag is seen: %s", said)
		}
	}
}

// selfSigned returns a certificate and its key.
func selfSigned(t *testing.T) (certificate, private []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// The values under controller are the controller's own defaults, and each is a flag of it.
func TestControllerValuesAreTheProgramsDefaults(t *testing.T) {
	t.Parallel()
	program, err := controllerProgram()
	require.NoError(t, err)
	help, err := run(t, program, "--help")
	require.NoError(t, err)
	file, err := os.ReadFile(controllerSource + "/values.yaml")
	require.NoError(t, err)
	var values struct{ Controller map[string]any }
	require.NoError(t, kyaml.Unmarshal(file, &values))
	require.NotEmpty(t, values.Controller)
	for name, value := range values.Controller {
		flag := regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(name, func(s string) string { return "-" + strings.ToLower(s) })
		_, about, found := strings.Cut(help, "\n  -"+flag)
		require.True(t, found, "%s is no flag", flag)
		about, _, _ = strings.Cut(about, "\n  -")
		if name == "logFormat" {
			continue // the chart sets another value here and documents it
		}
		want := ""
		if said := regexp.MustCompile(`\(default ([^)]*)\)\n?$`).FindStringSubmatch(about); said != nil && !strings.Contains(said[1], " ") {
			want = strings.Trim(said[1], `"`)
		}
		got := fmt.Sprint(value)
		if got == "false" {
			got = "" // help does not print this default
		}
		assert.Equal(t, want, got, flag)
	}
}

func TestEveryControllerChartValueHasAComment(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(controllerSource + "/values.yaml")
	require.NoError(t, err)
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(file, &doc))
	assert.Empty(t, uncommented(doc.Content[0], ""), "these have no comment that begins with --")
}

func TestInvalidControllerChartValuesAreRefused(t *testing.T) {
	t.Parallel()
	const minimal = "--values=testdata/controller/minimal.yaml"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no Carve":                       {nil, "carve.url is empty: set it"},
		"no project":                     {[]string{minimal, "--set=carve.project="}, "carve.project is empty: set it"},
		"a key in the clear":             {[]string{minimal, "--set=carve.url=http://carve"}, "the key would cross the network unencrypted"},
		"a password in the values":       {[]string{minimal, "--set=carve.url=https://me:secret@carve"}, "at '/carve/url'"},
		"an unknown flag":                {[]string{minimal, "--set=controller.worker=3"}, "at '/controller': additional properties 'worker' not allowed"},
		"no workers":                     {[]string{minimal, "--set=controller.workers=0"}, "at '/controller/workers': minimum: got 0, want 1"},
		"root":                           {[]string{minimal, "--set=security.runAsUser=0"}, "at '/security/runAsUser'"},
		"a duration without a unit":      {[]string{minimal, "--set-string=controller.consumerTtl=10"}, "at '/controller/consumerTtl'"},
		"a budget that blocks all":       {[]string{minimal, "--set=podDisruptionBudget.maxUnavailable=0"}, "at '/podDisruptionBudget/maxUnavailable'"},
		"a value that does not exist":    {[]string{minimal, "--set=crds=true"}, "additional properties 'crds' not allowed"},
		"an old Kubernetes version":      {[]string{minimal, "--kube-version=1.30.0"}, "chart requires kubeVersion"},
		"a name that no Secret can have": {[]string{minimal, "--set=carve.caSecret=A_B"}, "at '/carve/caSecret'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := helm(t, append([]string{"template", "ipam", controllerSource, "--kube-version=1.36.3"}, c.args...)...)
			require.Error(t, err, out)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}
