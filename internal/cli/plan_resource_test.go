package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// item returns a document of `get -o yaml` as an item of a list in a plan.
func item(doc string) string {
	return "- " + strings.ReplaceAll(strings.TrimSpace(doc), "\n", "\n  ") + "\n"
}

func TestApplyAcceptsResourcesAsGetPrintsThem(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.in = `
plan: everything
project: { name: team-a, displayName: A }
spaces: [{ name: lab, description: Lab, labels: { a: b } }]
classes: [{ name: web, ipFamily: IPv4, defaultPrefixLength: 28 }]
pools:
- name: outer
  cidr: 10.7.0.0/16
  space: lab
  reservations: [{ first: 16 }]
  pools: [{ name: inner, prefixLength: 20, classNames: [web], reuseAfter: 1h, claims: [{ name: vip, address: 10.7.16.9 }] }]
claims: [{ name: node, className: web }]
`
	created := d.done("apply", "-f", "-")
	require.Equal(t, 6, strings.Count(created.out, "created"), created.out)
	get := func(line ...string) string { return d.done(append(line, "-o", "yaml")...).out }
	d.in = "project:\n  " + strings.TrimPrefix(item(get("project", "get", "team-a")), "- ") +
		"spaces:\n" + item(get("space", "get", "lab")) +
		"classes:\n" + item(get("class", "show", "web")) +
		"pools:\n" + item(get("pool", "get", "outer")+"pools:\n"+item(get("pool", "get", "inner"))) +
		"claims:\n" + item(get("claim", "get", "vip")) + item(get("claim", "get", "node"))
	same := d.done("apply", "-f", "-")
	require.Equal(t, 7, strings.Count(same.out, "unchanged"), same.out)

	d.in = strings.ReplaceAll(strings.ReplaceAll(d.in, "10.7.", "10.6."), "team-a", "team-b") // another project gets the same objects
	copied := d.done("apply", "-f", "-")
	require.Equal(t, 7, strings.Count(copied.out, "created"), copied.out)
	require.NotContains(t, d.done("pool", "get", "inner", "-p", "team-b", "-o", "yaml").out, "ipamctl.carve/plan", "the copy belongs to no plan")
}

func TestBatchesAndPlansAcceptBothFormsOfAClaim(t *testing.T) {
	t.Parallel()
	d := served(t)
	claims := func(prefix string) string {
		return "claims:\n- metadata: { name: " + prefix + "-1, labels: { a: b } }\n  spec: { poolRef: { name: prod }, prefixLength: 26 }\n" +
			"- { name: " + prefix + "-2, pool: team-a/prod, prefixLength: 26, labels: { a: b } }\n"
	}
	d.in = claims("batch")
	require.Equal(t, "10.0.0.0/26\n10.0.0.64/26\n", d.done("claim", "batch", "-f", "-", "-q").out)
	d.in = claims("plan")
	require.Equal(t, 2, strings.Count(d.done("apply", "-f", "-").out, "created"))
	require.Len(t, strings.Fields(d.done("claim", "list", "-l", "a=b", "-q").out), 4)
}

func TestResourceThatAPlanCannotPlaceIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plan, want string }{
		"OneResource": {"metadata: { name: a }\nspec: {}", "it is a resource or a list of the API, which does not contain its kind"},
		"AList":       {"items: []", "it is a resource or a list of the API, which does not contain its kind"},
		"ChildAsRoot": {"pools:\n- metadata: { name: a }\n  spec: { parentRef: { name: b }, prefixLength: 9 }", "-:3: pools[0].parentRef is pool b: in a plan, a child pool is in the list `pools` of its parent"},
		"GivenTwice":  {"claims:\n- name: a\n  metadata: { name: b }\n  spec: {}", "claims[0].name is given twice"},
		"UnknownKey":  {"claims:\n- metadata: { name: b }\n  spec: { poolref: { name: x }, prefixLenght: 9 }", "-:3: claims[0].prefixLenght is not a key of a plan; did you mean prefixLength?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			d.in = c.plan
			r := d.run("apply", "-f", "-")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, c.want)
			require.Empty(t, d.requests())
		})
	}
	d := answering(t)
	d.in = "claims: [{ name: a, pool: prod, prefixLength: 24 }, { name: b, pool: prod, prefixLenght: 24 }]"
	r := d.run("claim", "batch", "-f", "-")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "-: claims[1].prefixLenght is not a key of a plan; did you mean prefixLength?")
	require.Empty(t, d.requests())
}
