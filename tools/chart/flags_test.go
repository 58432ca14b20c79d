package chart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// programsDir is a temporary directory that TestMain removes.
var programsDir string

// programs builds the image's /server and /ipamctl from this commit.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "carve-chart-programs-")
	if err != nil {
		return "", err
	}
	programsDir = dir
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/", "./cmd/server", "./cmd/ipamctl")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// Each container's command runs with its arguments and --help after them. The program parses the flags up to there, so it refuses an unknown flag or
// an invalid value.
func TestProgramsAcceptTheChartsArguments(t *testing.T) {
	t.Parallel()
	dir, err := programs()
	require.NoError(t, err)
	commands := map[string]bool{}
	for name, path := range valuesFiles(t) {
		for owner, spec := range podSpecs(t, objects(t, render(t, source, "--values="+path))) {
			for _, container := range containers(spec) {
				command, ok := dig(container, "command", 0).(string)
				if !ok {
					continue // the dev profile's PostgreSQL has its own image
				}
				commands[command] = true
				out, err := run(t, dir+command, append(texts(dig(container, "args")), "--help")...)
				assert.NoError(t, err, "%s of %s: %s", owner, name, out)
			}
		}
	}
	assert.Equal(t, map[string]bool{"/server": true, "/ipamctl": true}, commands)
}

func TestUnknownArgumentIsRefused(t *testing.T) {
	t.Parallel()
	dir, err := programs()
	require.NoError(t, err)
	for command, args := range map[string][]string{"/server": {"--max-connexions=3", "--help"}, "/ipamctl": {"migrate", "--regionz=x", "--help"}} {
		_, err := run(t, dir+command, args...)
		assert.Error(t, err, command)
	}
}

// The server accepts all arguments together: it then fails because the database is missing (1), and not because of its flags (2).
func TestServerAcceptsAllArgumentsTogether(t *testing.T) {
	t.Parallel()
	dir, err := programs()
	require.NoError(t, err)
	files := t.TempDir()
	for path, content := range map[string]string{
		"database/url": "postgresql://carve@127.0.0.1:1/carve", "oidc/oidc.yaml": "issuers: []", "webhooks/webhook-key": strings.Repeat("k", 32), "database-tls/ca.crt": "", "tls/tls.crt": "", "tls/tls.key": "", "client-ca/ca.crt": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(files, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(files, path), []byte(content), 0o600))
	}
	for name, path := range valuesFiles(t) {
		for owner, spec := range podSpecs(t, objects(t, render(t, source, "--values="+path))) {
			if dig(spec, "containers", 0, "name") != "server" {
				continue
			}
			args := texts(dig(spec, "containers", 0, "args"))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "/etc/carve", files)
				args[i] = strings.ReplaceAll(args[i], "=:808", "=127.0.0.1:0808")
				if strings.HasPrefix(args[i], "--database-url=") {
					args[i] = "--database-url=postgresql://carve@127.0.0.1:1/carve"
				}
			}
			cmd := exec.CommandContext(t.Context(), dir+"/server", args...)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "there is no database")
			assert.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s of %s: %s", owner, name, out)
		}
	}
}

// The values under server are the server's own defaults, so that the chart changes nothing that its operator did not set.
func TestServerValuesAreTheServersDefaults(t *testing.T) {
	t.Parallel()
	dir, err := programs()
	require.NoError(t, err)
	help, err := run(t, dir+"/server", "--help")
	require.NoError(t, err)
	file, err := os.ReadFile(source + "/values.yaml")
	require.NoError(t, err)
	var values struct{ Server map[string]any }
	require.NoError(t, yaml.Unmarshal(file, &values))
	require.NotEmpty(t, values.Server)
	for name, value := range values.Server {
		if name == "logFormat" || name == "metrics" {
			continue // the chart sets other values for these two and documents them
		}
		if value == "" {
			continue // the server decides
		}
		flag := regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(name, func(s string) string { return "-" + strings.ToLower(s) })
		line := regexp.MustCompile(`(?m)^ +--` + flag + ` .*$`).FindString(help)
		require.NotEmpty(t, line, flag)
		want := ""
		if found := regexp.MustCompile(`\(default ([^)]*)\)$`).FindStringSubmatch(line); found != nil {
			want = strings.Trim(found[1], `"`)
		}
		got := strings.Trim(fmt.Sprint(value), "[]")
		if got == "0" || got == "0s" {
			got = "" // help does not print this default
		}
		assert.Equal(t, want, got, flag)
	}
}

func run(t *testing.T, program string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err
}

func texts(of any) []string {
	var all []string
	for _, each := range asList(of) {
		all = append(all, fmt.Sprint(each))
	}
	return all
}
