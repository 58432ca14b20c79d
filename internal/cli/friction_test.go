package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli"
)

func TestShellsCompleteNamesByPrefix(t *testing.T) {
	t.Parallel()
	d := served(t)
	claims := make([]fields, 0, 230)
	for n := range 230 { // more names than the shell completes without a prefix
		claims = append(claims, fields{"metadata": fields{"name": "host-" + string(rune('a'+n/26)) + string(rune('a'+n%26))}, "spec": fields{"poolRef": fields{"name": "prod"}, "prefixLength": 32}})
	}
	claims = append(claims, fields{"metadata": fields{"name": "zone-1"}, "spec": fields{"poolRef": fields{"name": "prod"}, "prefixLength": 32}})
	d.ask(t, "POST", "/v1/projects/team-a/claim-batches", fields{"claims": claims})
	require.NotContains(t, d.done("__complete", "claim", "get", "").out, "zone-1")
	require.Contains(t, d.done("__complete", "claim", "get", "zo").out, "zone-1\n")
	require.Contains(t, d.done("__complete", "pool", "get", "pr").out, "prod\n")
	require.NotContains(t, d.done("__complete", "pool", "get", "zo").out, "zone-1")
}

func TestSearchForAPartialAddressReportsANameSearch(t *testing.T) {
	t.Parallel()
	d := served(t)
	for _, half := range []string{"10.9.3", "2001:db8:11:", "010.009.003.077", "fe80::1%eth0", "team-a/10.9.3"} {
		require.Contains(t, d.done("search", half).err, "is neither an address nor a CIDR, so the search treated it as a name", half)
	}
	for _, other := range []string{"10.9.3.1", "2001:db8::/32", "web", "cafe"} {
		require.NotContains(t, d.done("search", other).err, "treated it as a name", other)
	}
}

func TestErrorsNameTheNextStep(t *testing.T) {
	t.Parallel()
	d := answering(t)
	require.Contains(t, d.run("get").err, "ipamctl get needs a kind, as in 'ipamctl get pool'")
	require.Contains(t, d.run("pool", "create", "p", "--cidr", "10.0.0.0/8", "--label", "a=b,c=d").err, "must be one key=value; give the flag again for each: a=b and c=d")
	delete(d.env, "CARVE_SERVER")
	d.env["HTTP_PROXY"] = ""
	require.Contains(t, d.run("whoami", "--timeout", "1ns").err, "This is the default, because no server is named: use --server")
	require.NotContains(t, d.run("whoami", "--server", "http://127.0.0.1:1", "--timeout", "1ns").err, "no server is named")
}

func TestForceFlagIsRefused(t *testing.T) {
	t.Parallel()
	d := answering(t)
	for _, line := range [][]string{{"pool", "delete", "prod", "--force"}, {"project", "delete", "shop", "--force"}, {"claim", "delete", "web", "--force"}, {"apply", "-f", "plan.yaml", "--force"}} {
		failed := d.run(line...)
		require.Contains(t, failed.err, "Carve never deletes or overwrites an object in use", line)
		require.NotContains(t, failed.err, "--yes", line)
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{{"import", "csv", "--help"}, {"pool", "create", "--help"}, {"help"}, {"shadow", "mirror", "--help"}} {
		var out bytes.Buffer
		require.Zero(t, cli.Run(t.Context(), line, cli.Environment{In: strings.NewReader(""), Out: &out, Err: &out, Width: 80, Env: func(string) (string, bool) { return "", false }}))
		usage, examples, _ := strings.Cut(out.String(), "Examples:")
		_, flags, _ := strings.Cut(examples, "Flags:")
		for text := range strings.Lines(usage + flags) {
			if strings.HasPrefix(text, "  ipamctl") {
				continue // example command lines are not wrapped
			}
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(text, "\n")), 80, text)
		}
	}
}

func TestDryRunOfAPlanRefusesClaimsThatCannotFit(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("pool", "create", "narrow", "--cidr", "192.0.2.0/28")
	d.done("claim", "create", "first", "--pool", "narrow", "--prefix-length", "29")
	plan := func(claims string) string { return "plan: fits\nclaims:\n" + claims }
	d.in = plan("- { name: second, pool: narrow, prefixLength: 29 }\n- { name: third, pool: narrow, prefixLength: 29 }\n")
	full := d.run("apply", "-f", "-", "--dry-run")
	require.Equal(t, 4, full.code)
	require.Contains(t, full.err, "claim third")
	d.in = plan("- { name: second, pool: narrow, address: 192.0.2.1 }\n")
	require.Equal(t, 4, d.run("apply", "-f", "-", "--dry-run").code)
	d.in = plan("- { name: second, pool: narrow, prefixLength: 29 }\n")
	require.Zero(t, d.run("apply", "-f", "-", "--dry-run").code)
	require.NotContains(t, d.done("claim", "list", "-q").out, "second")
}

func TestSavedPlanContainsNoClaimsThatCannotFit(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("pool", "create", "narrow", "--cidr", "192.0.2.0/28")
	d.in = "plan: fits\nclaims:\n- { name: first, pool: narrow, prefixLength: 29 }\n- { name: second, pool: narrow, prefixLength: 28 }\n"
	saved := filepath.Join(t.TempDir(), "saved")
	full := d.run("plan", "-f", "-", "--out", saved)
	require.Equal(t, 4, full.code)
	require.Contains(t, full.err, "claim second")
	require.NoFileExists(t, saved)
	d.in = strings.Replace(d.in, "28 }", "29 }", 1)
	require.Zero(t, d.run("plan", "-f", "-", "--out", saved).code)
	require.FileExists(t, saved)
}

func TestGrantToAnInvisibleProjectPrintsAHint(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("project", "create", "team-b")
	const hint = "no project team-c is visible to you: check the name"
	require.Contains(t, d.done("grant", "add", "team-b", "team-c", "--space", "default").err, hint)
	require.NotContains(t, d.done("grant", "add", "team-b", "*", "--space", "default").err, "visible to you")
	require.Empty(t, d.done("grant", "add", "team-c", "--space", "default", "-q").err)
}

func TestFirstMemberOfAnIssuerPrintsAHint(t *testing.T) {
	t.Parallel()
	d := served(t)
	const hint = "is the first member with the issuer corp here: check that the server's --oidc-config has an issuer of this name"
	require.Contains(t, d.done("member", "set", "corp:alice", "--role", "viewer", "--dry-run").err, "corp:alice "+hint)
	require.Contains(t, d.done("member", "set", "corp:alice", "--role", "viewer").err, "corp:alice "+hint)
	require.Empty(t, d.done("member", "set", "corp:alice", "--role", "admin").err, "the member exists")
	require.Empty(t, d.done("member", "set", "corp:bob", "--role", "viewer").err)
	require.Contains(t, d.done("member", "set", "corpo:carol", "--role", "viewer").err, "corpo:carol is the first member")
}
