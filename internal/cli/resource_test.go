package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const someAllocation = "d4c1f7a2-8e0b-4f2c-9b16-5a7e3c9d1f08"

// A command accepts a name in the form in which the columns of a table print it.
func TestVerbsAcceptNamesAsColumnsPrintThem(t *testing.T) {
	t.Parallel()
	pool, claim, space, allocation := ok(example(t, "IPPool")), ok(example(t, "IPClaim")), ok(example(t, "Space")), ok(example(t, "IPAllocation"))
	for args, c := range map[string]struct {
		answers []reply
		want    []string
	}{
		"pool get platform/vips-1":                 {[]reply{pool}, []string{"GET /v1/projects/platform/pools/vips-1"}},
		"pool get platform/vips-1 own":             {[]reply{pool, pool}, []string{"GET /v1/projects/platform/pools/vips-1", "GET /v1/projects/team-a/pools/own"}},
		"pool show platform/vips-1":                {[]reply{pool}, []string{"GET /v1/projects/platform/pools/vips-1"}},
		"pool free platform/vips-1":                {[]reply{ok(lastPage(t, "PoolFree"))}, []string{"GET /v1/projects/platform/pools/vips-1/free?limit=500"}},
		"pool utilization platform/vips-1":         {[]reply{ok(example(t, "PoolUtilization"))}, []string{"GET /v1/projects/platform/pools/vips-1/utilization?points=25"}},
		"pool set platform/vips-1 --description a": {[]reply{pool}, []string{"PATCH /v1/projects/platform/pools/vips-1"}},
		"pool delete platform/vips-1":              {[]reply{gone()}, []string{"DELETE /v1/projects/platform/pools/vips-1"}},
		"claim get team-b/web":                     {[]reply{claim}, []string{"GET /v1/projects/team-b/claims/web"}},
		"claim delete team-b/web -q":               {[]reply{gone()}, []string{"DELETE /v1/projects/team-b/claims/web"}},
		"space get platform/internet":              {[]reply{space}, []string{"GET /v1/projects/platform/spaces/internet"}},
		"allocation get platform/" + someAllocation: {
			[]reply{allocation}, []string{"GET /v1/projects/platform/allocations/" + someAllocation},
		},
		"allocation delete platform/" + someAllocation: {
			[]reply{gone()}, []string{"DELETE /v1/projects/platform/allocations/" + someAllocation},
		},
	} {
		t.Run(strings.ReplaceAll(args, "/", ":"), func(t *testing.T) {
			t.Parallel()
			d := answering(t, c.answers...)
			d.done(strings.Fields(args)...)
			var asked []string
			for _, s := range d.requests() {
				asked = append(asked, s.method+" "+s.uri)
			}
			require.Equal(t, c.want, asked)
		})
	}
	t.Run("WithoutAProject", func(t *testing.T) {
		t.Parallel()
		d := answering(t, pool)
		delete(d.env, "CARVE_PROJECT")
		d.done("pool", "get", "platform/vips-1")
		require.Contains(t, d.run("pool", "get", "vips-1").err, "no project is given")
	})
	t.Run("OtherPathsAreRefused", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"../x", "a/..", "a/b/c", "/a", "a/", "A/b"} {
			d := answering(t)
			r := d.run("pool", "delete", name)
			require.Equal(t, 2, r.code, name)
			require.Contains(t, r.err, "is not the name of a pool")
		}
	})
	t.Run("DeletesPrintTheGivenNames", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "pool platform/vips-1 deleted\n", answering(t, gone()).done("pool", "delete", "platform/vips-1").out)
	})
}

// A tenant cannot read the platform's project. It finds the platform's shared classes through its own project.
func TestSharedClassIsFoundByItsColumnName(t *testing.T) {
	t.Parallel()
	uris := func(d *double) (out []string) {
		for _, s := range d.requests() {
			out = append(out, s.uri)
		}
		return out
	}
	d := answering(t, ok(example(t, "IPClass")))
	d.done("class", "show", "platform/standard", "-o", "json")
	require.Equal(t, []string{"/v1/projects/team-a/classes/standard"}, uris(d))

	// If the project has a class with the same name, that class hides the shared class.
	var own map[string]any
	require.NoError(t, json.Unmarshal(example(t, "IPClass"), &own))
	own["metadata"].(map[string]any)["project"] = "team-a"
	d = answering(t, ok(marshal(t, own)), ok(example(t, "IPClass")))
	require.Contains(t, d.done("class", "show", "platform/standard", "-o", "json").out, `"platform"`)
	require.Equal(t, []string{"/v1/projects/team-a/classes/standard", "/v1/projects/platform/classes/standard"}, uris(d))
}

func TestAllocationIsReboundByItsColumnName(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "IPClaim")))
	d.done("claim", "create", "r2", "--allocation", "platform/"+someAllocation)
	ref := d.requests()[0].json(t)["spec"].(map[string]any)["allocationRef"].(map[string]any)
	require.Equal(t, map[string]any{"project": "platform", "name": someAllocation}, ref)
}

// When a claim is deleted and its block stays, the command names the allocation that keeps it.
func TestDeleteOfARetainedClaimNamesItsAllocation(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(example(t, "IPClaim"), &doc))
	status := doc["status"].(map[string]any)
	status["reclaimPolicy"] = "Retain"
	status["allocationRef"] = map[string]any{"project": "platform", "name": someAllocation}
	kept := ok(marshal(t, doc))

	d := answering(t, kept, gone())
	require.Equal(t, "claim web-eu deleted; 10.20.1.0/24 is retained as allocation platform/"+someAllocation+"\n", d.done("claim", "delete", "web-eu").out)
	require.Equal(t, []string{"GET", "DELETE"}, d.methods())
	require.Equal(t, "claim web-eu would be deleted; 10.20.1.0/24 would be retained as allocation platform/"+someAllocation+" (dry run)\n",
		answering(t, kept, gone()).done("claim", "delete", "web-eu", "--dry-run").out)

	// The output for scripts does not change, and the command sends only one request.
	for _, format := range [][]string{{"-q"}, {"-o", "name"}, {"-o", "json"}} {
		d = answering(t, gone())
		require.NotContains(t, d.done(append([]string{"claim", "delete", "web-eu"}, format...)...).out, "retained")
	}
	require.Equal(t, "claim web-eu deleted\n", answering(t, ok(example(t, "IPClaim")), gone()).done("claim", "delete", "web-eu").out)
	r := answering(t, refusal(t, "ProblemNotFound")).run("claim", "delete", "web-eu")
	require.Equal(t, 3, r.code)
	require.Empty(t, r.out)
}

func TestShowPrintsOneFieldPerLine(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range []struct{ kind, name, answer string }{
		{"pool", "prod-eu", "IPPool"}, {"pool", "global", "IPPoolRegions"}, {"claim", "web-eu", "IPClaim"}, {"allocation", someAllocation, "IPAllocation"},
	} {
		r := answering(t, ok(example(t, c.answer))).done(c.kind, "show", c.name)
		all.WriteString("$ ipamctl " + c.kind + " show " + c.name + "\n" + r.out + "\n")
		for _, format := range []string{"wide", "json", "yaml", "name"} {
			require.Equal(t, answering(t, ok(example(t, c.answer))).done(c.kind, "get", c.name, "-o", format).out,
				answering(t, ok(example(t, c.answer))).done(c.kind, "show", c.name, "-o", format).out)
		}
	}
	requireGolden(t, "show", all.String())
}
