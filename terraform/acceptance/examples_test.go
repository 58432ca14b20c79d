package acceptance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// examples are the folders of examples that are in the pages of the registry.
func examples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(root("terraform/examples/*/*/*.tf"))
	require.NoError(t, err)
	provider, err := filepath.Glob(root("terraform/examples/provider/*.tf"))
	require.NoError(t, err)
	return append(files, provider...)
}

// TestExamplesCanBeApplied applies all of them in one project, which has what they take for granted, and imports what they say can be imported.
func TestExamplesCanBeApplied(t *testing.T) {
	s, project := world.main, prepared(t, world.main)
	ctx := t.Context()
	_, err := s.CreateClass(ctx, project, client.IPClassCreate{Metadata: client.CreateMetadata{Name: "standard"}, Spec: client.IPClassSpec{IPFamily: "IPv4"}})
	require.NoError(t, err)
	_, err = s.Claim(ctx, project, "web", client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 28})
	require.NoError(t, err)
	_, err = s.PutPoolGrant(ctx, project, "prod", "*")
	require.NoError(t, err)
	_, err = s.PutQuota(ctx, project, "limit", client.QuotaPut{Spec: client.QuotaSpec{Limits: client.QuotaLimits{Claims: new(int64(9))}}})
	require.NoError(t, err)
	_, err = s.PutMember(ctx, project, "corp:bob@example.com", client.MemberPut{Spec: client.MemberSpec{Role: "viewer"}})
	require.NoError(t, err)
	_, err = s.CreateAPIKey(ctx, project, client.APIKeyCreate{Metadata: client.CreateMetadata{Name: "reader"}, Spec: client.APIKeySpec{Role: "viewer"}})
	require.NoError(t, err)
	_, err = s.PutConsumer(ctx, project, "default", "vm-1", client.IPConsumerPut{})
	require.NoError(t, err)

	files := examples(t)
	require.Greater(t, len(files), 20)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		config := strings.ReplaceAll(string(text), "team-a", project)
		f := newFolder(t, s, "examples", config)
		f.env = append(f.env, "CARVE_PROJECT="+project)
		if strings.HasSuffix(file, "provider.tf") {
			f.write("main.tf", config)
		}
		f.apply()
		f.empty()
		if id, err := os.ReadFile(filepath.Join(filepath.Dir(file), "import.sh")); err == nil {
			words := regexp.MustCompile(`^terraform import (\S+) '(.*)'\n$`).FindStringSubmatch(strings.ReplaceAll(string(id), "team-a", project))
			require.Len(t, words, 3)
			f.run("state", "rm", words[1])
			f.run("import", words[1], words[2])
			f.empty()
		}
		f.destroy()
	}
	said := newFolder(t, s, "", "")
	for _, file := range files {
		said.run("fmt", "-check", "-diff", mustAbs(t, file))
	}
}

func mustAbs(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}
