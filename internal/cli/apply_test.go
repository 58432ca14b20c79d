package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallPlan = `
project: { name: team-a, displayName: Team A }
spaces:
  - { name: lab, description: Repeats addresses of production on purpose }
pools:
  - name: prod-eu
    cidr: 10.20.0.0/16
    labels: { env: prod }
    allocation: { strategy: BestFit, defaultPrefixLength: 24 }
    reservations: [{ first: 16, reason: Network devices }]
    pools:
      - { name: prod-eu-k8s, prefixLength: 18, allocation: { strategy: Sparse } }
  - { name: lab-v4, space: lab, cidr: 10.20.0.0/16 }
`

// applying returns a double with a plan on standard input.
func applying(t *testing.T, plan string, script ...reply) *double {
	t.Helper()
	d := answering(t, script...)
	d.in = plan
	delete(d.env, "CARVE_PROJECT")
	return d
}

func labV4(t *testing.T) json.RawMessage {
	t.Helper()
	return made{"lab-v4", "10.20.0.0/16", "", "team-a/lab"}.pool(t)
}

func TestApplyCreatesMissingResourcesParentsFirst(t *testing.T) {
	t.Parallel()
	d := applying(t, smallPlan,
		refusal(t, "ProblemNotFound"), created(example(t, "Project")),
		created(example(t, "Space")), created(example(t, "IPPool")), created(labV4(t)), created(example(t, "IPPoolChild")))
	r := d.done("apply", "-f", "-", "--parallel", "1")
	requireGolden(t, "apply", r.out)
	var posts []string
	for _, s := range d.requests() {
		if s.method == http.MethodPost {
			require.NotEmpty(t, s.header.Get("Idempotency-Key"))
			posts = append(posts, s.json(t)["metadata"].(map[string]any)["name"].(string))
		}
	}
	require.Equal(t, []string{"team-a", "lab", "prod-eu", "lab-v4", "prod-eu-k8s"}, posts) // an object comes after the objects that it depends on
	child := d.requests()[5].json(t)["spec"].(map[string]any)
	require.Equal(t, map[string]any{"name": "prod-eu"}, child["parentRef"])
}

func TestApplyKeepsMatchingResources(t *testing.T) {
	t.Parallel()
	d := applying(t, smallPlan, ok(example(t, "Project")), ok(example(t, "SpaceList")),
		listOf(t, labV4(t), example(t, "IPPool"), example(t, "IPPoolChild")))
	r := d.done("apply", "-f", "-")
	require.Empty(t, r.err)
	require.Equal(t, 5, strings.Count(r.out, "unchanged"))
}

func TestApplyDryRunReportsDifferencesAndChangesNothing(t *testing.T) {
	t.Parallel()
	plan := strings.NewReplacer("BestFit", "FirstFit", "env: prod", "env: stage, tier: a", "first: 16", "first: 32",
		"prefixLength: 18", "prefixLength: 20", "Team A", "Team B", "space: lab,", "space: office,").Replace(smallPlan)
	d := applying(t, plan, ok(example(t, "Project")), ok(example(t, "SpaceList")),
		listOf(t, labV4(t), example(t, "IPPool"), example(t, "IPPoolChild")))
	r := d.run("apply", "-f", "-", "--dry-run")
	require.Equal(t, 4, r.code)
	require.Equal(t, "differences that apply cannot change: 2 things\n", r.err)
	requireGolden(t, "apply-differs", r.out)
	for _, s := range d.requests() {
		require.Equal(t, http.MethodGet, s.method)
	}
}

func TestApplyDryRunSendsOnlyReads(t *testing.T) {
	t.Parallel()
	d := applying(t, smallPlan, refusal(t, "ProblemNotFound"))
	r := d.done("apply", "-f", "-", "--dry-run")
	require.Equal(t, 5, strings.Count(r.out, "to create"))
	require.Len(t, d.requests(), 1)
}

func TestApplyStopsAtTheFirstRefusalAndShowsItsProgress(t *testing.T) {
	t.Parallel()
	d := applying(t, smallPlan, ok(example(t, "Project")), ok(example(t, "SpaceList")), listOf(t), refusal(t, "ProblemOverlap"))
	r := d.run("apply", "-f", "-", "--parallel", "1")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "unchanged   space     lab")
	require.Contains(t, r.err, "error: pool prod-eu: 10.20.0.0/14 overlaps pool team-a/prod-eu")
}

func TestApplyAcceptsAnotherProject(t *testing.T) {
	t.Parallel()
	d := applying(t, smallPlan, refusal(t, "ProblemNotFound"))
	d.done("apply", "-f", "-", "--dry-run", "-p", "team-b")
	require.Equal(t, "/v1/projects/team-b", d.requests()[0].uri)

	d = applying(t, smallPlan, refusal(t, "ProblemNotFound"))
	d.env["CARVE_PROJECT"] = "team-c" // set for other commands; the project in the plan takes precedence
	d.done("apply", "-f", "-", "--dry-run")
	require.Equal(t, "/v1/projects/team-a", d.requests()[0].uri)
}

const classPlan = `
project: { name: team-a }
classes:
  - { name: web, ipFamily: IPv4, labels: { tier: gold }, isDefault: true, reuseAfter: 60m, parameters: { a: b } }
  - { name: standard, ipFamily: IPv4, poolPer: [project, cluster], poolPrefixLength: 20 }
pools:
  - { name: prod-eu, cidr: 10.20.0.0/16, classNames: [web, standard], reuseAfter: 1h }
`

func TestApplyCreatesClassesBeforeThePoolsThatListThem(t *testing.T) {
	t.Parallel()
	// The platform also has a class named standard. The plan refers to the project's class.
	d := applying(t, classPlan, ok(example(t, "Project")), listOf(t), ok(example(t, "IPClassList")), listOf(t),
		created(example(t, "IPClassMinimal")), created(example(t, "IPClassScoped")), created(example(t, "IPPool")))
	r := d.done("apply", "-f", "-")
	require.Equal(t, 3, strings.Count(r.out, "created"))
	require.JSONEq(t, `{"metadata":{"name":"web","labels":{"tier":"gold"}},"spec":{"ipFamily":"IPv4","isDefault":true,"reuseAfter":"60m","parameters":{"a":"b"}}}`,
		string(d.requests()[4].body))
	require.JSONEq(t, `{"metadata":{"name":"standard"},"spec":{"ipFamily":"IPv4","poolPer":["project","cluster"],"poolPrefixLength":20}}`,
		string(d.requests()[5].body))
	require.JSONEq(t, `{"metadata":{"name":"prod-eu"},"spec":{"cidr":"10.20.0.0/16","classNames":["web","standard"],"reuseAfter":"1h"}}`,
		string(d.requests()[6].body))
}

func TestApplyComparesClassesAndTheirPools(t *testing.T) {
	t.Parallel()
	d := applying(t, classPlan, ok(example(t, "Project")), listOf(t),
		listOf(t, example(t, "IPClassMinimal"), renamed(t, "IPClassScoped", "standard")), listOf(t, example(t, "IPPool")))
	r := d.done("apply", "-f", "-", "--dry-run")
	requireGolden(t, "apply-classes", r.out)
	require.Len(t, d.requests(), 4)
}

// renamed returns an example of the contract with another name.
func renamed(t *testing.T, of, name string) json.RawMessage {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(example(t, of), &doc))
	metadata, isMap := doc["metadata"].(map[string]any)
	require.True(t, isMap)
	metadata["name"] = name
	return marshal(t, doc)
}

func TestInvalidPlanIsRefusedBeforeARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plan, want string }{
		"UnknownField":    {"pools: [{ name: a, cidr: 10.0.0.0/8, prefixLenght: 8 }]", "pools[0].prefixLenght is not a key of a plan; did you mean prefixLength?"},
		"NotAName":        {"pools: [{ name: A, cidr: 10.0.0.0/8 }]", `pools[0].name "A" is not a name`},
		"Twice":           {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: a, prefixLength: 9 }] }]", "pools[0].pools[0].name a is used twice"},
		"RootOfNoCIDR":    {"pools: [{ name: a, prefixLength: 8 }]", "pools[0].prefixLength is for child pools only: pool a is a root"},
		"ChildOfNoSize":   {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b }] }]", "pools[0].pools[0] is a child of a: pool b needs either"},
		"ChildInASpace":   {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 9, space: s }] }]", "pools[0].pools[0].space is for roots"},
		"SpaceTwice":      {"spaces: [{ name: s }, { name: s }]", "spaces[1].name s is used twice"},
		"ClassTwice":      {"classes: [{ name: c, ipFamily: IPv4 }, { name: c, ipFamily: IPv6 }]", "classes[1].name c is used twice"},
		"ClassOfNoFamily": {"classes: [{ name: c }]", "classes[0] needs an ipFamily"},
		"FieldOfAClass":   {"classes: [{ name: c, ipFamily: IPv4, reuseafter: 1h, colour: red }]", "classes[0].colour is not a key of a plan"},
		"ProjectOfNoName": {"project: { name: .. }", `project.name ".." is not a name`},
		"NotAPlan":        {"[1, 2]", "it is not an address plan"},
		"KeyTwice":        {"pools: []\npools: []", "already defined"},
		"NoProject":       {"pools: []", "no project is given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := applying(t, c.plan)
			r := d.run("apply", "-f", "-")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, c.want)
			require.Empty(t, d.requests())
		})
	}
}

func TestExamplePlanIsValid(t *testing.T) {
	t.Parallel()
	plan, err := os.ReadFile("../../examples/plan.yaml")
	require.NoError(t, err)
	r := applying(t, string(plan), refusal(t, "ProblemNotFound")).done("apply", "-f", "-", "--dry-run")
	require.Contains(t, r.out, "to create   project")
}

func TestInterruptedApplyAdvisesToRunItAgain(t *testing.T) {
	t.Parallel()
	unknown := refusal(t, "ProblemOutcomeUnknown")
	d := applying(t, smallPlan, ok(example(t, "Project")), ok(example(t, "SpaceList")), listOf(t), unknown, unknown, unknown, unknown, unknown)
	r := d.run("apply", "-f", "-", "--parallel", "1")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "run it again to continue: existing objects stay as they are")
	require.NotContains(t, r.err, "--idempotency-key")
}

func TestApplyReportsDifferentPoolRegions(t *testing.T) {
	t.Parallel()
	for regions, want := range map[string]string{
		``:                                  "unchanged",
		`region: eu, regions: [us, eu]`:     "unchanged",
		`region: us, regions: [eu, us, ap]`: `region is eu, not us; regions: ["eu","us"] -> ["eu","us","ap"]`,
		`regions: [eu]`:                     `regions: ["eu","us"] -> ["eu"]`,
	} {
		plan := "project: { name: team-a }\npools: [{ name: global, cidr: 10.128.0.0/12, " + regions + " }]\n"
		d := applying(t, plan, ok(example(t, "Project")), ok(example(t, "SpaceList")), listOf(t, example(t, "IPPoolRegions")))
		require.Contains(t, d.run("apply", "-f", "-", "--dry-run").out, want, regions)
	}
	plan := "project: { name: team-a }\npools: [{ name: global, cidr: 10.128.0.0/12, region: eu, regions: [eu, us] }]\n"
	d := applying(t, plan, ok(example(t, "Project")), ok(example(t, "SpaceList")), listOf(t), created(example(t, "IPPoolRegions")))
	d.done("apply", "-f", "-")
	require.Subset(t, d.requests()[3].json(t)["spec"], map[string]any{"region": "eu", "regions": []any{"eu", "us"}})
}
