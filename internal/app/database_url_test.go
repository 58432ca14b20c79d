package app

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestDatabaseURLIsReadFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte(dbtest.New(t)+"\n"), 0o600))
	a, _ := launch(t, "--auth=dev", "--database-url-file="+file)
	require.Equal(t, http.StatusOK, get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/whoami", "").status)
}

func TestDatabaseURLFileErrorsHideTheSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tc := range map[string]struct{ content, path, wrong string }{
		"NoFile":        {path: filepath.Join(dir, "nowhere"), wrong: "no such file"},
		"AFolder":       {path: dir, wrong: "is a directory"},
		"Empty":         {content: " \n", wrong: "is empty"},
		"TwoLines":      {content: "postgres://carve:hunter2@db/carve\npostgres://carve:hunter2@db/carve\n", wrong: "several lines"},
		"NoURL":         {content: "postgres://carve:hunter2@db:port/carve", wrong: "database URL is not valid"},
		"Endless":       {content: "postgres://carve:hunter2@db/" + string(bytes.Repeat([]byte("x"), 20_000)), wrong: "too long"},
		"TheURLItself":  {path: "postgres://carve:hunter2@db/carve", wrong: "looks like a database URL"},
		"ItsOtherShape": {path: "host=db password=hunter2", wrong: "looks like a database URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.path == "" {
				tc.path = filepath.Join(t.TempDir(), "url")
				require.NoError(t, os.WriteFile(tc.path, []byte(tc.content), 0o600))
			}
			config, _, err := ParseConfig([]string{"--auth=keys", "--database-url-file=" + tc.path}, nil)
			require.NoError(t, err)
			_, err = Start(t.Context(), config, t.Output())
			require.ErrorContains(t, err, "--database-url-file")
			require.ErrorContains(t, err, tc.wrong)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestPasswordOnTheCommandLineIsWarnedAbout(t *testing.T) {
	t.Parallel()
	const withSecret = "postgres://carve:hunter2@127.0.0.1:1/carve?connect_timeout=5"
	for name, tc := range map[string]struct {
		args, env []string
		warned    bool
	}{
		"OnTheCommandLine":   {args: []string{"--database-url=" + withSecret}, warned: true},
		"AsAParameter":       {args: []string{"--database-url=postgres://carve@127.0.0.1:1/carve?password=hunter2"}, warned: true},
		"AsPairs":            {args: []string{"--database-url=host=127.0.0.1 port=1 password=hunter2"}, warned: true},
		"InTheEnvironment":   {env: []string{"CARVE_DATABASE_URL=" + withSecret}},
		"WithoutAnyPassword": {args: []string{"--database-url=postgres://carve@127.0.0.1:1/carve"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, _, err := ParseConfig(append([]string{"--auth=keys", "--log-level=debug"}, tc.args...), tc.env)
			require.NoError(t, err)
			var logs bytes.Buffer
			_, err = Start(t.Context(), config, &logs)
			require.Error(t, err, "there is no database")
			require.NotContains(t, err.Error()+logs.String(), "hunter2")
			require.Equal(t, tc.warned, bytes.Contains(logs.Bytes(), []byte("on the command line")), logs.String())
		})
	}
}

func TestHelpShowsNoSecretOfTheEnvironment(t *testing.T) {
	t.Parallel()
	_, usage, err := ParseConfig([]string{"--help"}, []string{"CARVE_DATABASE_URL=postgres://carve:hunter2@db/carve"})
	require.Error(t, err)
	require.NotContains(t, usage+err.Error(), "hunter2")
	_, usage, err = ParseConfig([]string{"--lissten=x", "--database-url=postgres://carve:hunter2@db/carve"}, nil)
	require.Error(t, err)
	require.NotContains(t, usage+err.Error(), "hunter2")
}
