package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A command with the verb before the kind sends the same requests and prints the same output as the command with the kind before the verb.
func TestVerbBeforeTheKindSendsTheSameRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		example string
		one     []string
		other   []string
	}{
		{"IPPoolList", []string{"get", "pools", "-o", "wide"}, []string{"pool", "list", "-o", "wide"}},
		{"IPPoolList", []string{"list", "pool", "-l", "env=prod", "--sort-by", "cidr"}, []string{"pool", "list", "-l", "env=prod", "--sort-by", "cidr"}},
		{"IPPool", []string{"get", "pool", "prod-eu"}, []string{"pool", "get", "prod-eu"}},
		{"IPPool", []string{"get", "pool/prod-eu", "-q"}, []string{"pool", "get", "prod-eu", "-q"}},
		{"IPClaim", []string{"describe", "claim", "web-eu"}, []string{"claim", "show", "web-eu"}},
		{"IPPool", []string{"set", "pool", "prod-eu", "--label", "env=prod"}, []string{"pool", "set", "prod-eu", "--label", "env=prod"}},
		{"Whoami", []string{"api", "whoami"}, []string{"api", "GET", "/v1/whoami"}},
	} {
		one, other := answering(t, ok(lastPage(t, c.example))), answering(t, ok(lastPage(t, c.example)))
		require.Equal(t, other.done(c.other...).out, one.done(c.one...).out, c.one)
		require.Equal(t, other.requests()[0].uri, one.requests()[0].uri)
	}
	d := answering(t, gone())
	require.Equal(t, "web-eu\n", d.done("delete", "claim/web-eu", "-q").out)
}

func TestUnknownWordsGetAHint(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`ipamctl has no verb "gte"; did you mean get?`:                      {"gte", "pools"},
		`ipamctl has no verb "poool"; did you mean pool?`:                   {"poool", "list"},
		`ipamctl get has no kind "pols"; did you mean pools?`:               {"get", "pols"},
		`ipamctl get has no kind "deployments"`:                             {"get", "deployments"},
		`ipamctl pool has no verb "patch"; did you mean set?`:               {"pool", "patch"},
		`ipamctl get has no kind "po"; did you mean pool?`:                  {"get", "po"},
		`ipamctl get has no kind "namespaces"; did you mean project?`:       {"get", "namespaces"},
		`ipamctl has no verb "label"; did you mean set?`:                    {"label", "pool", "a", "b=c"},
		`ipamctl has no verb "config"; did you mean context?`:               {"config", "get-contexts"},
		`ipamctl get takes one kind at a time, not "pools,claims"`:          {"get", "pools,claims"},
		`ipamctl get takes one kind at a time, not "pool/a claim/b"`:        {"get", "pool/a", "claim/b"},
		`unknown flag: --sort_by; did you mean --sort-by?`:                  {"get", "pools", "--sort_by", "name"},
		`unknown flag: --all-namespaces; did you mean --all-projects (-A)?`: {"get", "pools", "--all-namespaces"},
		`unknown shorthand flag: 'n' in -n; did you mean --project (-p)?`:   {"get", "pools", "-n", "shop"},
		`--selector works on lists only: omit it, or omit the names`:        {"get", "pool", "a", "-l", "a=b"},
	} {
		d := answering(t)
		r := d.run(args...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.err, want)
		require.Empty(t, d.requests())
	}
}

func TestGetOfSeveralNamesShowsTheExistingOnes(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPPool")), refusal(t, "ProblemNotFound"), ok(example(t, "IPPoolChild")))
	r := d.run("pool", "get", "prod-eu", "nope", "prod-eu-k8s", "-q")
	require.Equal(t, 3, r.code)
	require.Equal(t, "10.20.0.0/16\n10.20.64.0/18\n", r.out)
	require.Contains(t, r.err, "error: pool nope: ")
}
