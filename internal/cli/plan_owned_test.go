package cli_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const ownedPlan = `
plan: net
project: { name: team-a }
pools:
  - name: prod-eu
    cidr: 10.20.0.0/16
    labels: { env: stage }
    claims:
      - { name: vip, address: 10.20.1.5 }
      - { name: web, prefixLength: 24, labels: { team: shop } }
`

// of returns an example object as if the named plan had created it. The object has labels, fields of the spec, and the annotation with the fields
// that the plan has set.
func of(t *testing.T, kind, plan string, said []string, labels, spec map[string]any) json.RawMessage {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(example(t, kind), &doc))
	labels["ipamctl.carve/plan"] = plan
	metadata := doc["metadata"].(map[string]any)
	metadata["labels"] = labels
	metadata["annotations"] = map[string]any{}
	if len(said) > 0 {
		metadata["annotations"] = map[string]any{"ipamctl.carve/applied-fields": string(marshal(t, said))}
	}
	maps.Copy(doc["spec"].(map[string]any), spec)
	return marshal(t, doc)
}

// ownedProject returns the project as if the plan "net" had created it.
func ownedProject(t *testing.T) reply {
	t.Helper()
	return ok(of(t, "Project", "net", []string{}, map[string]any{}, nil))
}

func TestNamedPlanMarksItsResourcesAndFields(t *testing.T) {
	t.Parallel()
	batch := marshal(t, map[string]any{"claims": []json.RawMessage{example(t, "IPClaim"), example(t, "IPClaim")}})
	d := applying(t, ownedPlan, ownedProject(t), listOf(t), listOf(t), listOf(t), created(example(t, "IPPool")), created(batch))
	r := d.done("apply", "-f", "-")
	require.Contains(t, r.out, "created     claim     vip")
	require.JSONEq(t, `{"metadata":{"name":"prod-eu","labels":{"env":"stage","ipamctl.carve/plan":"net"},
		"annotations":{"ipamctl.carve/applied-fields":"[\"/metadata/labels/env\"]"}},"spec":{"cidr":"10.20.0.0/16"}}`, string(d.requests()[4].body))
	require.JSONEq(t, `{"claims":[
		{"metadata":{"name":"vip","labels":{"ipamctl.carve/plan":"net"}},"spec":{"address":"10.20.1.5","poolRef":{"name":"prod-eu"}}},
		{"metadata":{"name":"web","labels":{"ipamctl.carve/plan":"net","team":"shop"},"annotations":{"ipamctl.carve/applied-fields":"[\"/metadata/labels/team\"]"}},
		 "spec":{"prefixLength":24,"poolRef":{"name":"prod-eu"}}}]}`, string(d.requests()[5].body))
}

// The command sets the fields of the plan. It removes a field that only an earlier plan had set. It keeps all other fields.
func TestNamedPlanMergesThreeWays(t *testing.T) {
	t.Parallel()
	pool := of(t, "IPPool", "net", []string{"/metadata/labels/env", "/metadata/labels/old", "/spec/description", "/spec/reuseAfter"},
		map[string]any{"env": "prod", "old": "x", "theirs": "y"}, map[string]any{"description": "Said once"})
	d := applying(t, "plan: net\nproject: { name: team-a }\npools: [{ name: prod-eu, cidr: 10.20.0.0/16, labels: { env: stage } }]\n",
		ownedProject(t), listOf(t), listOf(t, pool), ok(example(t, "IPPool")))
	r := d.done("apply", "-f", "-")
	require.Contains(t, r.out, "labels.env: prod -> stage; labels.old: x -> (none); description: Said once -> (none)")
	patch := d.requests()[3]
	require.Equal(t, http.MethodPatch, patch.method)
	require.Equal(t, `"`+revisionOf(t, pool)+`"`, patch.header.Get("If-Match"))
	require.JSONEq(t, `{"metadata":{"labels":{"env":"stage","old":null},"annotations":{"ipamctl.carve/applied-fields":"[\"/metadata/labels/env\"]"}},
		"spec":{"description":null}}`, string(patch.body))
}

// If a plan no longer has a field, the annotation no longer lists it. A value that another client sets later therefore stays.
func TestNamedPlanReleasesFieldsThatItNoLongerSets(t *testing.T) {
	t.Parallel()
	pool := of(t, "IPPool", "net", []string{"/spec/description"}, map[string]any{}, map[string]any{"description": "Said once"})
	d := applying(t, "plan: net\nproject: { name: team-a }\npools: [{ name: prod-eu, cidr: 10.20.0.0/16 }]\n",
		ownedProject(t), listOf(t), listOf(t, pool), ok(example(t, "IPPool")))
	d.done("apply", "-f", "-")
	all := d.requests()
	require.JSONEq(t, `{"metadata":{"annotations":{"ipamctl.carve/applied-fields":null}},"spec":{"description":null}}`, string(all[len(all)-1].body))
}

// A refusal of a batch names the claim that it concerns.
func TestRefusedClaimOfAPlanIsNamed(t *testing.T) {
	t.Parallel()
	refused := refusal(t, "ProblemNeverSatisfiable")
	var doc map[string]any
	require.NoError(t, json.Unmarshal(refused.body, &doc))
	doc["errors"] = []any{map[string]any{"pointer": "/claims/1/spec/prefixLength", "detail": "must be longer."}}
	refused.body = marshal(t, doc)
	d := applying(t, ownedPlan, ownedProject(t), listOf(t), listOf(t), listOf(t), created(example(t, "IPPool")), refused)
	require.Contains(t, d.run("apply", "-f", "-").err, "error: claim web: ")
}

func revisionOf(t *testing.T, doc json.RawMessage) string {
	t.Helper()
	var d struct{ Metadata struct{ Revision string } }
	require.NoError(t, json.Unmarshal(doc, &d))
	return d.Metadata.Revision
}

func TestResourcesOfAnotherPlanAreKept(t *testing.T) {
	t.Parallel()
	pool := of(t, "IPPool", "other", nil, map[string]any{}, nil)
	d := applying(t, "plan: net\nproject: { name: team-a }\npools: [{ name: prod-eu, cidr: 10.20.0.0/16, labels: { env: stage } }]\n",
		ownedProject(t), listOf(t), listOf(t, pool))
	r := d.run("apply", "-f", "-")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "it belongs to plan other")
	require.Len(t, d.requests(), 3)
}

const prunedPlan = "plan: net\nproject: { name: team-a }\n"

func prunable(t *testing.T) []reply {
	t.Helper()
	claim := of(t, "IPClaim", "net", nil, map[string]any{}, nil)
	return []reply{ownedProject(t), listOf(t), listOf(t), listOf(t, of(t, "IPPool", "net", nil, map[string]any{}, nil)), listOf(t, claim)}
}

func TestPruneDeletesChildrenFirst(t *testing.T) {
	t.Parallel()
	d := applying(t, prunedPlan, append(prunable(t), gone(), gone())...)
	r := d.done("apply", "-f", "-", "--prune", "--yes")
	require.Contains(t, r.out, "deleted")
	all := d.requests()
	require.Equal(t, []string{http.MethodDelete, http.MethodDelete}, []string{all[5].method, all[6].method})
	require.Contains(t, all[5].uri, "/claims/")
	require.Contains(t, all[6].uri, "/pools/prod-eu")
	require.NotEmpty(t, all[5].header.Get("If-Match"))
}

// A plan once listed the default space of the project and no longer does. The space must stay.
func TestPruneKeepsTheDefaultSpace(t *testing.T) {
	t.Parallel()
	var space map[string]any
	require.NoError(t, json.Unmarshal(of(t, "Space", "net", nil, map[string]any{}, nil), &space))
	space["metadata"].(map[string]any)["name"] = "default"
	d := applying(t, prunedPlan, ownedProject(t), listOf(t, marshal(t, space)), listOf(t), listOf(t), listOf(t))
	require.NotContains(t, d.done("apply", "-f", "-", "--prune", "--yes").out, "default")
	require.Len(t, d.requests(), 5, "nothing is deleted")
}

func TestPruneNeedsConfirmationAndANamedPlan(t *testing.T) {
	t.Parallel()
	d := applying(t, prunedPlan, prunable(t)...)
	r := d.run("apply", "-f", "-", "--prune")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "2 things would be deleted: use --yes")
	require.Len(t, d.requests(), 5)

	r = applying(t, "project: { name: team-a }\n").run("apply", "-f", "-", "--prune")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "--prune needs a plan with a name")
}

func TestSavedPlanIsExecutedUnchangedOrRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan, file := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "plan.saved")
	require.NoError(t, os.WriteFile(plan, []byte("project: { name: team-a }\npools: [{ name: prod-eu, cidr: 10.20.0.0/16, labels: { env: stage } }]\n"), 0o600))
	project, pool := ok(example(t, "Project")), example(t, "IPPool")
	d := applying(t, "", project, listOf(t), listOf(t, pool),
		project, listOf(t), listOf(t, pool), ok(pool),
		project, listOf(t), listOf(t, revised(t, pool)))
	r := d.run("plan", "-f", plan, "--out", file)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "~ pool prod-eu 10.20.0.0/16\n    - labels.env: prod\n    + labels.env: stage\n"+
		"0 to create, 1 to change, 0 to delete, 1 unchanged, 0 with differences that apply cannot change\n", r.out)
	r = d.run("apply", "-f", file)
	require.Zero(t, r.code, r.err)
	r = d.run("apply", "-f", file)
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "pool prod-eu has changed since the plan was saved")
	require.Empty(t, d.unused())
	require.Len(t, d.requests(), 10)
}

// revised returns a document with another revision.
func revised(t *testing.T, doc json.RawMessage) json.RawMessage {
	t.Helper()
	var d map[string]any
	require.NoError(t, json.Unmarshal(doc, &d))
	d["metadata"].(map[string]any)["revision"] = "00000000-0000-4000-8000-000000000000"
	return marshal(t, d)
}

func TestDiffExitsWithFourOnDifferences(t *testing.T) {
	t.Parallel()
	d := applying(t, "project: { name: team-a }\npools: [{ name: prod-eu, cidr: 10.20.0.0/16 }]\n",
		ok(example(t, "Project")), listOf(t), listOf(t), ok(example(t, "Project")), listOf(t), listOf(t, example(t, "IPPool")))
	r := d.run("diff", "-f", "-")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "+ pool prod-eu 10.20.0.0/16\n")
	require.Zero(t, d.run("diff", "-f", "-").code)
}
