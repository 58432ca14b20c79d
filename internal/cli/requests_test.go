package cli_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test checks the requests that the flags cause. The double checks that the contract allows these requests.
func TestFlagsAreSentInTheRequest(t *testing.T) {
	t.Parallel()
	project, space, pool, claim := example(t, "Project"), example(t, "Space"), example(t, "IPPool"), example(t, "IPClaim")
	for name, c := range map[string]struct {
		args   []string
		answer json.RawMessage
		uri    string
		body   string
	}{
		"Project": {
			[]string{"project", "create", "team-a", "--display-name", "Team A", "--description", "Shops", "--label", "unit=shops"}, project,
			"/v1/projects", `{"metadata":{"name":"team-a","labels":{"unit":"shops"}},"spec":{"displayName":"Team A","description":"Shops"}}`,
		},
		"Space": {
			[]string{"space", "create", "--generate-name", "lab-", "--annotation", "example.com/note=a=b,c"}, space,
			"/v1/projects/team-a/spaces", `{"metadata":{"generateName":"lab-","annotations":{"example.com/note":"a=b,c"}},"spec":{}}`,
		},
		"RootPool": {
			[]string{
				"pool", "create", "prod-eu", "--cidr", "10.20.0.0/16", "--space", "lab", "--strategy", "firstfit", "--min-prefix-length", "/18",
				"--default-prefix-length", "24", "--visibility", "shared", "--label", "env=prod", "--label", "geo=eu", "--description", "Production",
				"--reserve", "first:16=Network devices", "--reserve", "last:1", "--reserve", "10.20.4.0/28=gateways, old",
				"--reserve", "10.20.5.5-10.20.5.9=printers", "--reserve", "10.20.6.1",
			}, pool, "/v1/projects/team-a/pools",
			`{"metadata":{"name":"prod-eu","labels":{"env":"prod","geo":"eu"}},"spec":{"cidr":"10.20.0.0/16","spaceRef":{"name":"lab"},
			  "allocation":{"strategy":"FirstFit","minPrefixLength":18,"defaultPrefixLength":24},"visibility":"shared","description":"Production",
			  "reservations":[{"first":16,"reason":"Network devices"},{"last":1},{"cidr":"10.20.4.0/28","reason":"gateways, old"},
			  {"from":"10.20.5.5","to":"10.20.5.9","reason":"printers"},{"from":"10.20.6.1","to":"10.20.6.1"}]}}`,
		},
		"ChildPool": {
			[]string{"pool", "create", "k8s", "--parent", "platform/prod-eu", "--prefix-length", "18"}, pool, "/v1/projects/team-a/pools",
			`{"metadata":{"name":"k8s"},"spec":{"parentRef":{"project":"platform","name":"prod-eu"},"prefixLength":18}}`,
		},
		"ChildPoolAtAPlace": {
			[]string{"pool", "create", "v6", "--parent", "lab-v6", "--cidr", "2001:db8:20::/56", "--reserve", "2001:db8:20::1-2001:db8:20::f"},
			pool, "/v1/projects/team-a/pools",
			`{"metadata":{"name":"v6"},"spec":{"parentRef":{"name":"lab-v6"},"cidr":"2001:db8:20::/56","reservations":[{"from":"2001:db8:20::1","to":"2001:db8:20::f"}]}}`,
		},
		"PoolInRegions": {
			[]string{"pool", "create", "global", "--cidr", "10.128.0.0/12", "--region", "eu", "--regions", "eu,us", "--regions", "ap"}, pool,
			"/v1/projects/team-a/pools", `{"metadata":{"name":"global"},"spec":{"cidr":"10.128.0.0/12","region":"eu","regions":["eu","us","ap"]}}`,
		},
		"ClaimByLength": {
			[]string{"claim", "create", "web", "--pool", "prod-eu", "--prefix-length", "0", "--owner", "Cluster/web-eu/c/7781"}, claim,
			"/v1/projects/team-a/claims",
			`{"metadata":{"name":"web"},"spec":{"poolRef":{"name":"prod-eu"},"prefixLength":0,"ownerRef":{"kind":"Cluster","name":"web-eu","uid":"c/7781"}}}`,
		},
		"ClaimBySelector": {
			[]string{"claim", "create", "--generate-name", "node-", "-l", "env=prod,tier!=db,geo in (uk,eu),site notin (x),blessed,!old", "--family", "v6"},
			claim, "/v1/projects/team-a/claims",
			`{"metadata":{"generateName":"node-"},"spec":{"ipFamily":"IPv6","poolSelector":{"matchLabels":{"env":"prod"},"matchExpressions":[
			  {"key":"blessed","operator":"Exists"},{"key":"geo","operator":"In","values":["eu","uk"]},{"key":"old","operator":"DoesNotExist"},
			  {"key":"site","operator":"NotIn","values":["x"]},{"key":"tier","operator":"NotIn","values":["db"]}]}}}`,
		},
		"ClaimFromAnyPool": {
			[]string{"claim", "create", "web", "--selector", "", "--prefix-length", "24"}, claim, "/v1/projects/team-a/claims",
			`{"metadata":{"name":"web"},"spec":{"poolSelector":{},"prefixLength":24}}`,
		},
		"ClaimByAddress": {
			[]string{"claim", "create", "vip", "--pool", "prod-eu", "--address", "10.20.0.17", "--reclaim-policy", "retain"}, claim,
			"/v1/projects/team-a/claims",
			`{"metadata":{"name":"vip"},"spec":{"poolRef":{"name":"prod-eu"},"address":"10.20.0.17","reclaimPolicy":"Retain"}}`,
		},
		"ClaimByCIDR": {
			[]string{"claim", "create", "web", "--pool", "prod-eu", "--cidr", "10.20.9.0/24", "-p", "team-b"}, claim,
			"/v1/projects/team-b/claims", `{"metadata":{"name":"web"},"spec":{"poolRef":{"name":"prod-eu"},"cidr":"10.20.9.0/24"}}`,
		},
		"ClaimOfARetainedAllocation": {
			[]string{"claim", "create", "vip", "--allocation", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"}, claim,
			"/v1/projects/team-a/claims",
			`{"metadata":{"name":"vip"},"spec":{"allocationRef":{"name":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}}}`,
		},
		"ClaimInUse": {
			[]string{
				"claim", "create", "web", "--consumer", "vm-1", "--consumer", "vm-2", "--max-consumers", "2", "--realm", "rack", "--consumer-ttl", "2m",
				"--when-unused", "delete",
			}, claim, "/v1/projects/team-a/claims",
			`{"metadata":{"name":"web"},"spec":{"maxConsumers":2,"whenUnused":"Delete","consumers":[
			  {"uid":"vm-1","realm":"rack","ttlSeconds":120},{"uid":"vm-2","realm":"rack","ttlSeconds":120}]}}`,
		},
		"PutOfAClaimInUse": {
			[]string{"claim", "put", "web", "--consumer", "vm-1"}, claim, "/v1/projects/team-a/claims/web", `{"spec":{"consumers":[{"uid":"vm-1"}]}}`,
		},
		"PutOfAClaim": {
			[]string{"claim", "put", "web", "--pool", "prod-eu", "--label", "env=prod"}, claim, "/v1/projects/team-a/claims/web",
			`{"metadata":{"labels":{"env":"prod"}},"spec":{"poolRef":{"name":"prod-eu"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, created(c.answer))
			d.done(c.args...)
			require.Equal(t, c.uri, d.requests()[0].uri)
			require.JSONEq(t, c.body, string(d.requests()[0].body))
		})
	}
}

func TestFiltersAreSentInTheQuery(t *testing.T) {
	t.Parallel()
	empty := json.RawMessage(`{"items":[]}`)
	for name, c := range map[string]struct {
		args []string
		want url.Values
	}{
		"Pools": {
			[]string{"pool", "list", "-l", "env in (a,b),!old", "--phase", "ready", "--family", "4", "--space", "lab", "--parent", "team-b/prod", "--within", "10.0.0.0/8", "--contains", "10.1.2.3"},
			url.Values{
				"labelSelector": {"env in (a,b),!old"}, "phase": {"Ready"}, "ipFamily": {"IPv4"}, "space": {"lab"}, "parent": {"team-b/prod"},
				"within": {"10.0.0.0/8"}, "contains": {"10.1.2.3"}, "limit": {"500"},
			},
		},
		"Claims": {
			[]string{"claim", "list", "--pool", "prod-eu", "--phase", "Bound", "--family", "6", "--within", "2001:db8::/32", "--contains", "2001:db8::1", "--limit", "3", "--cursor", "abc"},
			url.Values{
				"pool": {"prod-eu"}, "phase": {"Bound"}, "ipFamily": {"IPv6"}, "within": {"2001:db8::/32"}, "contains": {"2001:db8::1"},
				"limit": {"3"}, "cursor": {"abc"},
			},
		},
		"Allocations": {
			[]string{"allocation", "list", "--purpose", "childpool", "--phase", "retained", "--pool", "prod-eu"},
			url.Values{"purpose": {"ChildPool"}, "phase": {"Retained"}, "pool": {"prod-eu"}, "limit": {"500"}},
		},
		"Holdings": {[]string{"allocation", "list", "--held", "--phase", "retained"}, url.Values{"holder": {"self"}, "phase": {"Retained"}, "limit": {"500"}}},
		"Spaces":   {[]string{"space", "list", "-l", "a=b"}, url.Values{"labelSelector": {"a=b"}, "limit": {"500"}}},
		"Projects": {[]string{"project", "list", "-l", "a"}, url.Values{"labelSelector": {"a"}, "limit": {"500"}}},
		"Regions":  {[]string{"regions", "list"}, url.Values{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, ok(empty))
			d.done(c.args...)
			u, err := url.Parse(d.requests()[0].uri)
			require.NoError(t, err)
			require.Equal(t, c.want, u.Query())
		})
	}
}

// Every list command accepts stale data of the region. It then reports the time of the data.
func TestListsAcceptStaleConsistency(t *testing.T) {
	t.Parallel()
	page := func(readAt, next string) reply {
		body := `{"items":[]}`
		if next != "" {
			body = `{"items":[],"nextCursor":"` + next + `"}`
		}
		return reply{status: 200, body: json.RawMessage(body), header: map[string]string{"Carve-Consistency": "stale", "Carve-Read-At": readAt}}
	}
	for _, args := range [][]string{
		{"project", "list"}, {"space", "list"}, {"pool", "list"}, {"class", "list"}, {"claim", "list"}, {"allocation", "list"}, {"member", "list"},
		{"key", "list"}, {"quota", "list"}, {"grant", "list", "--pool", "p"}, {"grant", "list", "--space", "s"}, {"event", "list"}, {"history", "10.0.0.1"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			d := answering(t, page("2026-03-02T09:30:01Z", "bmV4dA"), page("2026-03-02T09:30:00Z", ""))
			r := d.done(append(args, "--consistency", "Stale")...)
			for _, request := range d.requests() {
				require.Contains(t, request.uri, "consistency=stale")
			}
			require.Contains(t, r.err, "this is the region's data of 2026-03-02T09:30:00Z;", "of several pages the oldest counts")
		})
	}
	d := answering(t, ok(json.RawMessage(`{"items":[],"summary":[]}`)))
	d.done("pool", "free", "p", "--consistency", "stale")
	require.Contains(t, d.requests()[0].uri, "consistency=stale")
}

func TestBatchFileIsSentUnchanged(t *testing.T) {
	t.Parallel()
	want := `{"claims":[{"metadata":{"name":"node-1","labels":{"since":"2026-03-02","yes":"true"}},"spec":{"poolRef":{"name":"k8s"},"prefixLength":26}},
	  {"metadata":{"name":"node-2"},"spec":{"poolRef":{"name":"k8s"},"prefixLength":26}}]}`
	yaml := `
claims:
  - metadata: { name: node-1, labels: { since: 2026-03-02, yes: "true" } }
    spec: &spec { poolRef: { name: k8s }, prefixLength: 26 }
  - metadata: { name: node-2 }
    spec: *spec
`
	t.Run("YAML", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "batch.yaml")
		require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
		d := answering(t, created(example(t, "ClaimBatch")))
		r := d.done("claim", "batch", "-f", path, "-q")
		require.JSONEq(t, want, string(d.requests()[0].body))
		require.NotEmpty(t, d.requests()[0].header.Get("Idempotency-Key"))
		require.Equal(t, "10.20.2.0/26\n10.20.2.64/26\n", r.out)
	})
	t.Run("JSONFromStandardInput", func(t *testing.T) {
		t.Parallel()
		d := answering(t, created(example(t, "ClaimBatch")))
		d.in = want
		r := d.done("claim", "batch", "-f", "-", "-o", "json")
		require.Equal(t, want, string(d.requests()[0].body), "JSON goes through untouched")
		require.JSONEq(t, string(example(t, "ClaimBatch")), r.out)
	})
}
