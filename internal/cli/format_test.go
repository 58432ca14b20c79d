package cli_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli"
)

func TestListsArePrintedByTemplateFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"jsonpath={.items[*].metadata.name}":                                               "prod-eu prod-eu-k8s lab\n",
		"jsonpath={range .items[*]}{.metadata.name}={.status.allocatedCIDR}{\"\\n\"}{end}": "prod-eu=10.20.0.0/16\nprod-eu-k8s=10.20.64.0/18\nlab=10.3.0.0/16\n",
		"go-template={{range .items}}{{.metadata.name}} {{end}}":                           "prod-eu prod-eu-k8s lab \n",
		"custom-columns=NAME:.metadata.name,BLOCK:status.allocatedCIDR,NO:.spec.no":        "NAME          BLOCK           NO\nprod-eu       10.20.0.0/16    <none>\nprod-eu-k8s   10.20.64.0/18   <none>\nlab           10.3.0.0/16     <none>\n",
	} {
		r := answering(t, ok(threePools(t))).done("pool", "list", "-o", format)
		require.Equal(t, want, r.out, format)
	}
}

func threePools(t *testing.T) []byte {
	t.Helper()
	return listOf(t, example(t, "IPPool"), example(t, "IPPoolChild"), made{"lab", "10.3.0.0/16", "", "team-a/lab"}.pool(t)).body
}

func TestCSVHasAllColumns(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(threePools(t))).done("pool", "list", "-o", "csv")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	require.Len(t, lines, 4)
	require.True(t, strings.HasPrefix(lines[0], "NAME,CIDR,PARENT,PHASE,USED,LARGEST FREE,SPACE,"))
	require.True(t, strings.HasPrefix(lines[1], "prod-eu,10.20.0.0/16,,"))
	for _, line := range lines[1:] {
		require.NotContains(t, line, " ,", "cells are what they are, without what fills a table")
	}
}

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{
		"cidr":                    "lab prod-eu prod-eu-k8s",
		"name":                    "lab prod-eu prod-eu-k8s",
		".metadata.name":          "lab prod-eu prod-eu-k8s",
		"{.status.allocatedCIDR}": "lab prod-eu prod-eu-k8s",
		".status.parentRef.name":  "prod-eu-k8s prod-eu lab", // rows without a value come last
		"status.capacity.total":   "prod-eu-k8s prod-eu lab", // sorted by size and not as text
	} {
		r := answering(t, ok(threePools(t))).done("pool", "list", "-q", "--sort-by", by)
		require.Equal(t, want, strings.Join(strings.Fields(r.out), " "), by)
	}
}

func TestSortByAnUnknownFieldIsRefused(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(threePools(t))).run("pool", "list", "--sort-by", "nope")
	require.Equal(t, 2, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "--sort-by nope: no pool has this; use a path such as .metadata.createdAt, or one of the columns name, cidr,")
}

func TestInvalidOutputFormatIsAUsageError(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"xml":                 "must be one of table, wide, json, yaml, name, csv, jsonpath=, go-template=, custom-columns=",
		"jsonpath":            "jsonpath needs a value, as in -o jsonpath='{.metadata.name}'",
		"jsonpath={.a":        "unclosed action",
		"go-template={{.a":    "unclosed action",
		"custom-columns=NAME": `"NAME" is not a column`,
	} {
		r := answering(t).run("pool", "list", "-o", format)
		require.Equal(t, 2, r.code, format)
		require.Contains(t, r.err, want)
	}
}

// On a terminal, a table is at most as wide as the terminal. It has colours unless the user turns them off.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	on := func(width int, env map[string]string, args ...string) (out, notes string) {
		d := answering(t, ok(threePools(t)))
		maps.Copy(d.env, env)
		var text, aside bytes.Buffer
		require.Zero(t, cli.Run(t.Context(), args, cli.Environment{
			In: strings.NewReader(""), Out: &text, Err: &aside, Width: width, Version: "1.2.3",
			Env: func(name string) (string, bool) { v, found := d.env[name]; return v, found },
		}))
		return text.String(), aside.String()
	}
	for _, width := range []int{30, 60, 120} {
		out, notes := on(width, map[string]string{"NO_COLOR": "1"}, "pool", "list", "-o", "wide")
		for line := range strings.SplitSeq(out, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), width)
		}
		require.Regexp(t, "columns? did not fit: use -o csv", notes)
		require.NotContains(t, out, "\x1b[")
	}
	out, _ := on(120, nil, "pool", "list")
	require.Contains(t, out, "\x1b[1mNAME\x1b[0m")
	require.Contains(t, out, "░")
}
