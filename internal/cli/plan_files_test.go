package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeveralFilesFormOnePlan(t *testing.T) {
	t.Parallel()
	d := served(t)
	a := written(t, "a.yaml", "plan: net\nproject: { name: team-a }\npools:\n  - { name: first, cidr: 10.1.0.0/16 }\n")
	b := written(t, "b.yaml", "pools:\n  - { name: second, cidr: 10.2.0.0/16 }\nclaims:\n  - { name: web, pool: first, prefixLength: 28 }\n")
	r := d.run("diff", "-f", a, "-f", b)
	require.Contains(t, r.out, "+ pool first")
	require.Contains(t, r.out, "+ pool second")
	d.done("apply", "-f", a, "-f", b)
	require.Contains(t, d.done("claim", "get", "web").out, "10.1.0.0/28")
	require.Zero(t, d.run("diff", "-f", b, "-f", a, "--prune").code)

	saved := filepath.Join(t.TempDir(), "saved")
	more := written(t, "more.yaml", "pools:\n  - { name: third, cidr: 10.3.0.0/16 }\n")
	d.done("plan", "-f", a, "-f", b, "-f", more, "--out", saved)
	require.Contains(t, d.done("apply", "-f", saved).out, "created")
	r = d.run("apply", "-f", saved, "-f", a)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "is a saved plan")

	for text, why := range map[string]string{
		"plan: other\n":               "b.yaml belongs to plan other, and an earlier file to plan net",
		"project: { name: team-b }\n": "b.yaml and an earlier file describe the project differently",
		"\n\npools:\n  - { name: x, cidr: 10.4.0.0/16 }\n  - { name: first, cidr: 10.5.0.0/16 }\n": "b.yaml:5: pools[2].name first is used twice",
	} {
		r = d.run("apply", "-f", a, "-f", written(t, "b.yaml", text))
		require.Equal(t, 2, r.code)
		require.Contains(t, r.err, why)
	}
}

func TestPruneReportsAPoolKeptByAnotherOwnersPool(t *testing.T) {
	t.Parallel()
	d := served(t)
	whole := written(t, "whole.yaml", "plan: net\nproject: { name: team-a }\nspaces:\n  - { name: lab }\npools:\n  - name: outer\n    cidr: 10.1.0.0/16\n    space: lab\n    pools:\n      - { name: inner, cidr: 10.1.1.0/24, claims: [ { name: web, address: 10.1.1.1 } ] }\n")
	empty := written(t, "empty.yaml", "plan: net\nproject: { name: team-a }\n")
	d.done("apply", "-f", whole)
	d.done("pool", "create", "foreign", "--parent", "outer", "--cidr", "10.1.2.0/24")
	r := d.run("diff", "-f", empty, "--prune")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "! pool outer 10.1.0.0/16\n    ! it cannot be deleted: it is used by pool foreign\n")
	require.Contains(t, r.out, "! space lab\n    ! it cannot be deleted: it is used by pool outer\n")
	require.Contains(t, r.out, "- pool inner")
	r = d.run("apply", "-f", empty, "--prune", "--yes")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "deleted     pool      inner")
	require.NotContains(t, r.err, "in_use")
	d.done("pool", "get", "outer")

	d.done("pool", "delete", "foreign")
	require.Zero(t, d.run("apply", "-f", empty, "--prune", "--yes").code)
	require.Equal(t, 3, d.run("pool", "get", "outer").code)
}
