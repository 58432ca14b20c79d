package provider

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettingsComeFromAttributesThenTheEnvironmentThenTheContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	contexts, keyFile := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(keyFile, []byte("from-file\n"), 0o600))
	require.NoError(t, os.WriteFile(contexts, []byte(`current: admin
contexts:
  admin: {server: https://a.example.com, project: team-a, apiKey: of-a, caFile: /a.pem}
  other: {server: https://b.example.com/, apiKey: of-b}
`), 0o600))
	for name, c := range map[string]struct {
		config values
		env    map[string]string
		want   settings
	}{
		"Nothing":         {want: settings{server: "https://a.example.com", project: "team-a", key: "of-a", caFile: "/a.pem"}},
		"NoContexts":      {env: map[string]string{"CARVE_CONFIG": filepath.Join(dir, "none")}, want: settings{server: defaultServer}},
		"AnotherContext":  {config: values{"context": "other"}, want: settings{server: "https://b.example.com/", key: "of-b"}},
		"KeyStaysAtHome":  {env: map[string]string{"CARVE_SERVER": "https://c.example.com"}, want: settings{server: "https://c.example.com", project: "team-a"}},
		"SameServer":      {config: values{"server": "https://A.example.com/"}, want: settings{server: "https://A.example.com/", project: "team-a", key: "of-a", caFile: "/a.pem"}},
		"Environment":     {env: map[string]string{"CARVE_API_KEY": "of-env", "CARVE_PROJECT": "p", "CARVE_OWNER": "o"}, want: settings{server: "https://a.example.com", project: "p", key: "of-env", caFile: "/a.pem", owner: "o"}},
		"AttributesFirst": {config: values{"api_key_file": keyFile, "project": "q"}, env: map[string]string{"CARVE_API_KEY": "of-env", "CARVE_PROJECT": "p"}, want: settings{server: "https://a.example.com", project: "q", key: "from-file", caFile: "/a.pem"}},
		"FileOfAVariable": {env: map[string]string{"CARVE_API_KEY_FILE": keyFile}, want: settings{server: "https://a.example.com", project: "team-a", key: "from-file", caFile: "/a.pem"}},
	} {
		env := func(name string) string {
			if v, ok := c.env[name]; ok || name != "CARVE_CONFIG" {
				return v
			}
			return contexts
		}
		got, err := settle(c.config, env)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}

	in := func(name string) string { return map[string]string{"CARVE_CONFIG": contexts}[name] }
	_, err := settle(values{"context": "none"}, in)
	require.ErrorContains(t, err, `no context "none"`)
	_, err = settle(values{"api_key": "a", "api_key_file": "b"}, in)
	require.ErrorContains(t, err, "both set")
	require.NoError(t, os.Chmod(contexts, 0o644))
	_, err = settle(nil, in)
	require.ErrorContains(t, err, "chmod 600")
}
