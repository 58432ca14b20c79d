package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPutCreatesAResourceOrReturnsTheExistingOne(t *testing.T) {
	t.Parallel()
	d := served(t)
	for _, c := range []struct {
		line, other  []string // other has one different setting
		difference   string
		quiet, label string
	}{
		{[]string{"project", "put", "team-b", "--display-name", "B"}, []string{"project", "put", "team-b", "--display-name", "C"}, "displayName is B, not C; 'ipamctl project set team-b' changes them", "team-b", "project team-b"},
		{[]string{"space", "put", "lab", "--description", "a"}, []string{"space", "put", "lab", "--description", "b"}, "description is a, not b; 'ipamctl space set lab' changes them", "lab", "space lab"},
		{[]string{"class", "put", "web", "--family", "4", "--default-prefix-length", "28"}, []string{"class", "put", "web", "--family", "6"}, "ipFamily is IPv4, not IPv6", "web", "class web"},
		{[]string{"pool", "put", "root", "--cidr", "10.9.0.0/16", "--space", "lab"}, []string{"pool", "put", "root", "--cidr", "10.8.0.0/16"}, "space is lab, not default; cidr is 10.9.0.0/16, not 10.8.0.0/16", "10.9.0.0/16", "pool root"},
		{
			[]string{"pool", "put", "child", "--parent", "team-a/prod", "--prefix-length", "17", "--reserve", "first:16", "--class", "web", "--reuse-after", "60m"},
			[]string{"pool", "put", "child", "--parent", "root", "--prefix-length", "18"}, "parent is prod, not root; prefixLength is /17, not /18", "10.0.0.0/17", "pool child",
		},
	} {
		require.Equal(t, c.quiet+"\n", d.done(append(c.line, "--dry-run", "-q")...).out)
		require.Equal(t, 3, d.run(append([]string{c.line[0], map[bool]string{true: "show", false: "get"}[c.line[0] == "class"]}, c.line[2])...).code, "a dry run creates nothing")
		first := d.done(append(c.line, "-q")...)
		require.Equal(t, c.quiet+"\n", first.out)
		require.Empty(t, first.err)
		again := d.done(append(c.line, "--label", "env=prod")...)
		require.Contains(t, again.err, c.label+" exists already, with these settings")
		require.Contains(t, again.err, "warning: "+c.label+" is unchanged: label env is not set")
		refused := d.run(c.other...)
		require.Equal(t, 4, refused.code)
		require.Contains(t, refused.err, c.label+" exists with other settings: "+c.difference)
	}
}

func TestPutIgnoresSettingsThatTheCommandLineDoesNotGive(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("pool", "set", "prod", "--description", "Production", "--max-prefix-length", "30")
	require.Equal(t, "10.0.0.0/16\n", d.done("pool", "put", "prod", "--cidr", "10.0.0.0/16", "-q").out)
	refused := d.run("pool", "put", "prod", "--cidr", "10.0.0.0/16", "--max-prefix-length", "28")
	require.Equal(t, 4, refused.code)
	require.Contains(t, refused.err, "allocation.maxPrefixLength is 30, not 28; 'ipamctl pool set prod' changes them")
}

func TestPutOfAClassCreatesOneBesideThePlatformsClassOfThatName(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("class", "create", "standard", "--family", "4", "--visibility", "shared", "-p", "platform")
	require.Contains(t, d.done("class", "put", "standard", "--family", "6").out, "team-a")
	require.Contains(t, d.done("class", "put", "standard", "--family", "6").err, "class standard exists already")
}

func TestPutReturnsAResourceThatAnotherCallerCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	d := answering(t, refusal(t, "ProblemNotFound"), refusal(t, "ProblemOverlap"), ok(example(t, "IPPool")))
	require.Equal(t, "10.20.0.0/16\n", d.done("pool", "put", "prod-eu", "--cidr", "10.20.0.0/16", "-q").out)
	require.Equal(t, []string{"GET", "POST", "GET"}, d.methods())
	d = answering(t, refusal(t, "ProblemNotFound"), refusal(t, "ProblemOverlap"), refusal(t, "ProblemNotFound"))
	r := d.run("pool", "put", "prod-eu", "--cidr", "10.20.0.0/16")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "overlaps pool")
}
