package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlagsOverrideVariables(t *testing.T) {
	t.Parallel()
	s, _, err := parse([]string{"--carve=http://127.0.0.1:1", "--workers=7"}, []string{"CARVE_PROJECT=a", "CARVE_WORKERS=9", "CARVE_SERVER=http://other", "HOME=/", "CARVE_CONSUMER_TTL=2h"})
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:1", s.carve, "the flag wins")
	assert.Equal(t, "a", s.project)
	assert.Equal(t, 7, s.workers)
	assert.Equal(t, 2*time.Hour, s.ttl)
}

func TestInvalidSettingIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for want, with := range map[string]struct{ args, environ []string }{
		"--carve is required":                           {args: []string{"--project=a"}},
		"--project is required":                         {args: []string{"--carve=http://127.0.0.1:1"}},
		"--consumer-ttl 1h0m0s is less than twice":      {args: []string{"--consumer-ttl=1h", "--renew-interval=31m"}},
		"--consumer-ttl 169h0m0s is more than 168h0m0s": {args: []string{"--consumer-ttl=169h"}},
		"--workers 0":                                   {args: []string{"--workers=0"}},
		`--log-format "xml" is not one of`:              {args: []string{"--log-format=xml"}},
		`--log-level "loud" is not one of`:              {args: []string{"--log-level=loud"}},
		"--carve-key-file: open /nowhere":               {args: []string{"--carve-key-file=/nowhere"}},
		"--carve-key-file: " + empty + " is empty":      {args: []string{"--carve-key-file=" + empty}},
		"--carve-ca-file: " + empty + " has no cert":    {args: []string{"--carve-ca-file=" + empty}},
		"set both --carve-client-cert and":              {args: []string{"--carve-client-cert=x"}},
		"--carve-client-cert: open x":                   {args: []string{"--carve-client-cert=x", "--carve-client-key=y"}},
		"--carve: ":                                     {args: []string{"--carve=http://carve.example.com"}},
		"--leader-elect-lease-duration":                 {args: []string{"--leader-elect-lease-duration=1s"}},
		`unexpected argument "go"`:                      {args: []string{"go"}},
		"not defined: -projekt":                         {args: []string{"--projekt=a"}},
		"unknown environment variable CARVE_WORKER":     {environ: []string{"CARVE_WORKER=1"}},
		"environment variable CARVE_WORKERS: ":          {environ: []string{"CARVE_WORKERS=many"}},
	} {
		args, needed := with.args, []string{"--carve=http://127.0.0.1:1", "--project=a"}
		if want != "--carve is required" && want != "--project is required" {
			args = append(needed, args...)
		}
		_, _, err := parse(args, with.environ)
		assert.ErrorContains(t, err, want)
	}
}

func TestHelpAndVersionPrintTheirText(t *testing.T) {
	t.Parallel()
	_, text, err := parse([]string{"--help"}, nil)
	require.ErrorIs(t, err, flag.ErrHelp)
	assert.Contains(t, text, "-renew-interval")
	_, text, err = parse([]string{"--version"}, nil)
	require.ErrorIs(t, err, errVersion)
	assert.Regexp(t, `^carve controller dev, go`, text)
}

// TestReplacedKeyFileIsReadAgain replaces the key's file, as an update of a mounted Secret does.
func TestReplacedKeyFileIsReadAgain(t *testing.T) {
	t.Parallel()
	var shown string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "key")
	for _, key := range []string{"first", "second"} {
		require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
		s, _, err := parse([]string{"--carve=" + server.URL, "--project=a", "--carve-key-file=" + file}, nil)
		require.NoError(t, err)
		client, watched, err := s.toCarve()
		require.NoError(t, err)
		require.False(t, watched.Reach().Asked)
		for _, later := range []string{key, "after-" + key} {
			require.NoError(t, os.WriteFile(file, []byte(later), 0o600))
			_, err := client.GetClaim(t.Context(), "a", "claim")
			require.Error(t, err, "this is no Carve")
			assert.Equal(t, "Bearer "+later, shown)
		}
		require.True(t, watched.Reach().Reachable)
	}
}
