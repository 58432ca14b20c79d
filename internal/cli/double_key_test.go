package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These constants are a credential of the tests. Output may contain keyID, but it must never contain the secret.
const (
	keyID     = "0123456789abcdef0123456789abcdef"
	keySecret = "thesecretthatmustneverbeseenanywhereatallinanyoutput"
	apiKey    = "carve_" + keyID + "_" + keySecret
	otherKey  = "carve_ffffffffffffffffffffffffffffffff_" + keySecret
)

// secretive returns a double with a context file of its own.
func secretive(t *testing.T, script ...reply) *double {
	t.Helper()
	require.Len(t, keySecret, 52)
	d := answering(t, script...)
	d.env["CARVE_CONFIG"] = filepath.Join(t.TempDir(), "carve", "config.yaml")
	return d
}

func (d *double) config() string { return d.env["CARVE_CONFIG"] }

// write writes the context file. Only its owner can access the file.
func (d *double) write(text string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.config()), 0o700))
	require.NoError(d.t, os.WriteFile(d.config(), []byte(text), 0o600))
}

// set creates a context. If key is not empty, the context has that API key.
func (d *double) set(name, key string, args ...string) result {
	d.t.Helper()
	args = append([]string{"context", "set", name}, args...)
	if key != "" {
		args, d.in = append(args, "--api-key-file", "-"), key+"\n"
	}
	r := d.run(args...)
	require.Zero(d.t, r.code, r.err)
	silent(d.t, r)
	return r
}

// silent requires that the output does not contain the secret.
func silent(t *testing.T, r result) {
	t.Helper()
	require.NotContains(t, r.out, keySecret)
	require.NotContains(t, r.err, keySecret)
}

// bearer returns the credential of a request.
func (s sent) bearer() string { return strings.TrimPrefix(s.header.Get("Authorization"), "Bearer ") }
