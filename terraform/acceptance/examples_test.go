package acceptance_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// examples returns the example files that the registry's pages show.
func examples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(root("terraform/examples/*/*/*e.tf"))
	require.NoError(t, err)
	provider, err := filepath.Glob(root("terraform/examples/provider/*.tf"))
	require.NoError(t, err)
	return append(files, provider...)
}

// TestExamplesCanBeApplied applies all examples in one project. The project has the objects that the examples require or import.
func TestExamplesCanBeApplied(t *testing.T) {
	t.Parallel()
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
	_, err = s.AttachConsumer(ctx, project, "web", "vm-1", client.IPConsumerSpec{})
	require.NoError(t, err)
	_, err = s.CreateAlertRule(ctx, project, client.AlertRuleCreate{
		Metadata: client.CreateMetadata{Name: "pools"}, Spec: client.AlertRuleSpec{About: client.AlertRuleAboutPools, Percent: 90},
	})
	require.NoError(t, err)
	_, err = s.CreateWebhook(ctx, project, client.WebhookCreate{
		Metadata: client.CreateMetadata{Name: "audit"}, Spec: client.WebhookSpec{URL: "https://audit.example.com/carve", Paused: new(true)},
	})
	require.NoError(t, err)

	files := examples(t)
	require.Greater(t, len(files), 20)
	f := newFolder(t, s, "examples", "")
	f.env = append(f.env, "CARVE_PROJECT="+project)
	imports, ids := "", map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.NewReplacer("-", "_", ".tf", "").Replace(filepath.Base(file)) + "_" + filepath.Base(filepath.Dir(file))
		config := strings.ReplaceAll(string(text), "team-a", project)
		if !strings.HasSuffix(file, "provider.tf") {
			config = head + config
		}
		f.module(name, config)
		block, err := os.ReadFile(filepath.Join(filepath.Dir(file), "import-by-string-id.tf"))
		if err != nil {
			continue
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(file), "import.sh"))
		require.NoError(t, err)
		words := regexp.MustCompile(`^terraform import (\S+) '(.*)'\n$`).FindStringSubmatch(string(command))
		require.Len(t, words, 3)
		require.Equal(t, fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", words[1], words[2]), string(block), "one id, twice")
		block = bytes.Replace(block, []byte("to = "), []byte("to = module."+name+"."), 1)
		imports += strings.ReplaceAll(string(block), "team-a", project)
		ids["module."+name+"."+words[1]] = strings.ReplaceAll(words[2], "team-a", project)
	}
	f.run("get")
	f.apply()
	f.empty()
	f.run(append([]string{"state", "rm"}, slices.Collect(maps.Keys(ids))...)...)
	f.write("imports.tf", imports)
	require.Contains(t, f.apply(), fmt.Sprintf("%d imported, 0 added, 0 changed, 0 destroyed", len(ids)))
	f.remove("imports.tf")
	f.empty()
	for address, id := range ids {
		require.Equal(t, id, f.value(address, "id"))
	}
	f.destroy()
	f.run("fmt", "-check", "-diff", "-recursive", mustAbs(t, root("terraform/examples")))
}

func mustAbs(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}
