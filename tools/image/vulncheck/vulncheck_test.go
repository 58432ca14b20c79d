package vulncheck_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check runs the script on the module in testdata/planted, which calls a function with an invented report in testdata/vulndb.
func check(t *testing.T, database string) (code int, said string) {
	t.Helper()
	script, err := filepath.Abs("vulncheck.sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), script, ".")
	cmd.Dir = filepath.Join("testdata", "planted")
	cmd.Env = append(os.Environ(), "GOVULNDB="+database, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// copyOf returns a changed copy of the database on disk.
func copyOf(t *testing.T, change func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "vulndb"))))
	change(dir)
	return "file://" + dir
}

func TestVulncheck(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refuses.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		database string
		code     int
		says     string
	}{
		"FailsWhenSomethingKnownIsCalled": {copyOf(t, func(string) {}), 3, "Your code is affected by 1 vulnerability"},
		"PassesWhenNothingIsKnown": {copyOf(t, func(dir string) {
			assert.NoError(t, os.WriteFile(filepath.Join(dir, "index", "modules.json"),
				[]byte(`[{"path":"example.com/other","vulns":[{"id":"GO-0000-0001","modified":"2026-01-01T00:00:00Z"}]}]`), 0o600))
		}), 0, "No vulnerabilities found"},
		"SaysThatNothingWasCheckedWithoutADatabase":       {gone.URL, 4, "NOT CHECKED"},
		"SaysThatNothingWasCheckedWhenTheDatabaseRefuses": {refuses.URL, 4, "NOT CHECKED"},
		// govulncheck itself finds nothing in an empty directory and reports success.
		"SaysThatNothingWasCheckedWhenTheCopyIsEmpty": {"file://" + t.TempDir(), 4, "NOT CHECKED"},
		"SaysThatNothingWasCheckedWhenTheCopyKnowsNoModule": {copyOf(t, func(dir string) {
			assert.NoError(t, os.WriteFile(filepath.Join(dir, "index", "modules.json"), []byte("[]"), 0o600))
		}), 4, "NOT CHECKED"},
		"SaysThatNothingWasCheckedWhenTheCopyIsNotThere": {"file://" + filepath.Join(t.TempDir(), "none"), 4, "NOT CHECKED"},
		"SaysThatNothingWasCheckedWhenAReportIsMissing": {copyOf(t, func(dir string) {
			assert.NoError(t, os.RemoveAll(filepath.Join(dir, "ID")))
		}), 4, "NOT CHECKED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, said := check(t, c.database)
			assert.Equal(t, c.code, code, said)
			assert.Contains(t, said, c.says)
		})
	}
}

func TestModuleThatDoesNotBuildIsAnError(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("vulncheck.sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), script, "./none")
	cmd.Dir = filepath.Join("testdata", "planted")
	cmd.Env = append(os.Environ(), "GOVULNDB="+copyOf(t, func(string) {}), "GOFLAGS=")
	out, _ := cmd.CombinedOutput()
	assert.Equal(t, 1, cmd.ProcessState.ExitCode(), string(out))
	assert.NotContains(t, string(out), "NOT CHECKED")
}
