package cli_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A verb before the kind is the verb of the kind: the same requests, the same answers.
func TestVerbsMayStandBeforeTheKind(t *testing.T) {
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
		{"Whoami", []string{"api", "whoami"}, []string{"api", "GET", "/v1/whoami"}},
	} {
		one, other := answering(t, ok(lastPage(t, c.example))), answering(t, ok(lastPage(t, c.example)))
		require.Equal(t, other.done(c.other...).out, one.done(c.one...).out, c.one)
		require.Equal(t, other.requests()[0].uri, one.requests()[0].uri)
	}
	d := answering(t, gone())
	require.Equal(t, "web-eu\n", d.done("delete", "claim/web-eu", "-q").out)
}

func TestWordsThatAreNoneGetAHint(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`ipamctl has no verb "gte"; did you mean get?`:        {"gte", "pools"},
		`ipamctl has no verb "poool"; did you mean pool?`:     {"poool", "list"},
		`ipamctl get has no kind "pols"; did you mean pools?`: {"get", "pols"},
		`ipamctl get has no kind "deployments"`:               {"get", "deployments"},
		`ipamctl pool has no verb "patch"; did you mean set?`: {"pool", "patch"},
		`--selector is about lists: it cannot go with names`:  {"get", "pool", "a", "-l", "a=b"},
		`"projects/../x" is no path of the API`:               {"api", "projects/../x"},
		`"BREW" is no method of the API`:                      {"api", "BREW", "whoami"},
	} {
		d := answering(t)
		r := d.run(args...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.err, want)
		require.Empty(t, d.requests())
	}
}

func TestOfSeveralNamesThoseThatAreThereAreShown(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPPool")), refusal(t, "ProblemNotFound"), ok(example(t, "IPPoolChild")))
	r := d.run("pool", "get", "prod-eu", "nope", "prod-eu-k8s", "-q")
	require.Equal(t, 3, r.code)
	require.Equal(t, "10.20.0.0/16\n10.20.64.0/18\n", r.out)
	require.Contains(t, r.err, "error: pool nope: ")
}

func TestAnyRequestCanBeSent(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "IPPool")))
	d.in = "metadata: { name: prod-eu }\nspec: { cidr: 10.20.0.0/16 }\n"
	r := d.done("api", "projects/{project}/pools", "-f", "-", "-o", "jsonpath={.metadata.name}")
	require.Equal(t, "prod-eu\n", r.out)
	s := d.requests()[0]
	require.Equal(t, http.MethodPost, s.method)
	require.Equal(t, "/v1/projects/team-a/pools", s.uri)
	require.NotEmpty(t, s.header.Get("Idempotency-Key"))
}
