package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClassFlagsAreSentInTheRequest(t *testing.T) {
	t.Parallel()
	class, pool, claim := example(t, "IPClass"), example(t, "IPPool"), example(t, "IPClaimByClass")
	for name, c := range map[string]struct {
		args   []string
		answer reply
		uri    string
		body   string
	}{
		"Class": {
			[]string{"class", "create", "web", "--family", "4"}, created(class),
			"POST /v1/projects/team-a/classes", `{"metadata":{"name":"web"},"spec":{"ipFamily":"IPv4"}}`,
		},
		"ClassOfEverything": {
			[]string{
				"class", "create", "gold", "--family", "ipv4", "--default-length", "28", "--min-length", "/24", "--max-length", "32",
				"--strategy", "bestfit", "--reclaim-policy", "retain", "--visibility", "shared", "--default", "--move-default", "--reuse-after", "10m",
				"--pool-selection", "leastutilized", "--pool-per", "project,network", "--pool-length", "20", "--empty-pool-ttl", "1d",
				"--parameter", "example.com/tier=gold", "--description", "Clusters", "--label", "tier=gold", "--dry-run", "-p", "platform",
			}, created(class), "POST /v1/projects/platform/classes?moveDefault=true&dryRun=true",
			`{"metadata":{"name":"gold","labels":{"tier":"gold"}},"spec":{"ipFamily":"IPv4","visibility":"shared","isDefault":true,"strategy":"BestFit",
			  "allowedPrefixLengths":{"min":24,"max":32},"defaultPrefixLength":28,"reclaimPolicy":"Retain","reuseAfter":"10m","poolSelection":"LeastUtilized",
			  "poolPer":["project","network"],"poolPrefixLength":20,"emptyPoolTTL":"24h","parameters":{"example.com/tier":"gold"},"description":"Clusters"}}`,
		},
		"FlagsEqualToThePool": {
			[]string{"class", "create", "web", "--ip-family", "6", "--default-prefix-length", "64", "--is-default=false", "--reuse-after", "0"}, created(class),
			"POST /v1/projects/team-a/classes",
			`{"metadata":{"name":"web"},"spec":{"ipFamily":"IPv6","defaultPrefixLength":64,"isDefault":false,"reuseAfter":"0s"}}`,
		},
		"ClassChanged": {
			[]string{
				"class", "set", "web", "--default-length", "26", "--max-length", "none", "--reuse-after", "90m", "--strategy", "none", "--default", "--move-default",
				"--label", "tier=gold", "--label", "old-", "--parameter", "a-", "--description", "", "--if-match", `"r"`, "--dry-run",
			}, ok(class), "PATCH /v1/projects/team-a/classes/web?moveDefault=true&dryRun=true",
			`{"metadata":{"labels":{"tier":"gold","old":null}},"spec":{"defaultPrefixLength":26,"allowedPrefixLengths":{"max":null},"reuseAfter":"1h30m",
			  "strategy":null,"isDefault":true,"parameters":{"a":null},"description":""}}`,
		},
		"DefaultRemoved": {[]string{"class", "set", "web", "--default=false"}, ok(class), "PATCH /v1/projects/team-a/classes/web", `{"spec":{"isDefault":false}}`},
		"ClassDeleted":   {[]string{"class", "delete", "web", "--if-match", `"r"`}, gone(), "DELETE /v1/projects/team-a/classes/web", ""},
		"PoolOfClasses": {
			[]string{"pool", "create", "web", "--cidr", "10.1.0.0/16", "--class", "web", "--class", "standard", "--reuse-after", "3d"}, created(pool),
			"POST /v1/projects/team-a/pools",
			`{"metadata":{"name":"web"},"spec":{"cidr":"10.1.0.0/16","classNames":["web","standard"],"reuseAfter":"72h"}}`,
		},
		"PoolChanged": {
			[]string{
				"pool", "set", "prod-eu", "--class", "standard", "--class", "web", "--reuse-after", "none", "--strategy", "sparse", "--min-prefix-length", "none",
				"--default-prefix-length", "24", "--visibility", "shared", "--reserve", "first:4=gateways",
			}, ok(pool), "PATCH /v1/projects/team-a/pools/prod-eu",
			`{"spec":{"classNames":["standard","web"],"reuseAfter":null,"allocation":{"strategy":"Sparse","minPrefixLength":null,"defaultPrefixLength":24},
			  "visibility":"shared","reservations":[{"first":4,"reason":"gateways"}]}}`,
		},
		"PoolOfNoClasses": {
			[]string{"pool", "set", "prod-eu", "--class", "none", "--reserve", "none"}, ok(pool), "PATCH /v1/projects/team-a/pools/prod-eu",
			`{"spec":{"classNames":[],"reservations":[]}}`,
		},
		"PoolServedInMoreRegions": {
			[]string{"pool", "set", "global", "--regions", "eu,us", "--regions", "ap"}, ok(pool), "PATCH /v1/projects/team-a/pools/global",
			`{"spec":{"regions":["eu","us","ap"]}}`,
		},
		"PoolServedAtHome": {
			[]string{"pool", "set", "global", "--regions", "none"}, ok(pool), "PATCH /v1/projects/team-a/pools/global", `{"spec":{"regions":null}}`,
		},
		"ClaimByClass": {
			[]string{"claim", "create", "node-1", "--class", "standard", "--prefix-length", "26"}, created(claim), "POST /v1/projects/team-a/claims",
			`{"metadata":{"name":"node-1"},"spec":{"className":"standard","prefixLength":26}}`,
		},
		"ClaimInAScope": {
			[]string{"claim", "create", "node-1", "--class", "per-cluster", "--scope", "cluster=web-eu", "--scope", "zone="}, created(claim),
			"POST /v1/projects/team-a/claims", `{"metadata":{"name":"node-1"},"spec":{"className":"per-cluster","scope":{"cluster":"web-eu","zone":""}}}`,
		},
		"ClaimByTheDefaultClass": {
			[]string{"claim", "create", "node-1"}, created(claim), "POST /v1/projects/team-a/claims", `{"metadata":{"name":"node-1"},"spec":{}}`,
		},
		"ClaimByTheDefaultClassOfAFamily": {
			[]string{"claim", "put", "node-1", "--family", "6", "--scope", "cluster=a"}, created(claim), "PUT /v1/projects/team-a/claims/node-1",
			`{"spec":{"ipFamily":"IPv6","scope":{"cluster":"a"}}}`,
		},
		"Explained": {
			[]string{"claim", "explain", "--class", "standard", "--prefix-length", "26", "--scope", "cluster=a"}, ok(example(t, "ClaimExplanationBound")),
			"POST /v1/projects/team-a/claim-explanations", `{"spec":{"className":"standard","prefixLength":26,"scope":{"cluster":"a"}}}`,
		},
		"ExplainedByPool": {
			[]string{"claim", "explain", "--pool", "platform/eu"}, ok(example(t, "ClaimExplanationBound")),
			"POST /v1/projects/team-a/claim-explanations", `{"spec":{"poolRef":{"project":"platform","name":"eu"}}}`,
		},
		"Classes": {
			[]string{"class", "list", "-l", "tier=gold", "--family", "6"}, ok(json.RawMessage(`{"items":[]}`)),
			"GET /v1/projects/team-a/classes?labelSelector=tier%3Dgold&ipFamily=IPv6&limit=500", "",
		},
		"PoolsByClass":  {[]string{"pool", "list", "--class", "web"}, ok(json.RawMessage(`{"items":[]}`)), "GET /v1/projects/team-a/pools?class=web&limit=500", ""},
		"ClaimsByClass": {[]string{"claim", "list", "--class", "web"}, ok(json.RawMessage(`{"items":[]}`)), "GET /v1/projects/team-a/claims?class=web&limit=500", ""},
		"CoolingDownByClass": {
			[]string{"allocation", "list", "--class", "web", "--phase", "coolingdown"}, ok(json.RawMessage(`{"items":[]}`)),
			"GET /v1/projects/team-a/allocations?phase=CoolingDown&class=web&limit=500", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, c.answer)
			d.done(c.args...)
			s := d.requests()[0]
			require.Equal(t, c.uri, s.method+" "+s.uri)
			if c.body == "" {
				require.Empty(t, s.body)
				return
			}
			require.JSONEq(t, c.body, string(s.body))
		})
	}
}

func TestClassShowListsItsPools(t *testing.T) {
	t.Parallel()
	scoped, unbacked := example(t, "IPClassScoped"), example(t, "IPClassMinimal")
	backing := listOf(t, made{"clusters-eu", "10.97.0.0/16", "", "team-a/default"}.pool(t))
	var all strings.Builder
	shown := func(args []string, script ...reply) {
		d := answering(t, script...)
		all.WriteString("$ ipamctl " + strings.Join(args, " ") + "\n" + d.done(args...).out + "\n")
		if last := d.requests()[len(script)-1]; len(script) > 1 {
			require.Equal(t, "/v1/projects/team-a/pools?class="+args[len(args)-1]+"&limit=500", last.uri)
		}
	}
	shown([]string{"class", "show", "per-cluster"}, ok(scoped),
		listOf(t, made{"clusters-eu", "10.97.0.0/16", "", "team-a/default"}.pool(t), example(t, "IPPoolScoped")))
	shown([]string{"class", "show", "standard"}, ok(example(t, "IPClass")), listOf(t))
	shown([]string{"class", "get", "web", "per-cluster"}, ok(unbacked), ok(scoped), backing)
	requireGolden(t, "class-show", all.String())
}

func TestExplanationShowsDecisionsAndRemedies(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range []string{"ClaimExplanationBound", "ClaimExplanationRefused"} {
		for _, format := range [][]string{{"-o", "table"}, {"-o", "wide"}, {"-o", "yaml"}, {"-q"}} {
			args := append([]string{"claim", "explain"}, format...)
			r := answering(t, ok(example(t, name))).done(args...)
			require.Empty(t, r.err)
			all.WriteString("$ ipamctl " + strings.Join(args, " ") + "\n" + r.out + "\n")
		}
	}
	requireGolden(t, "explain", all.String())
	r := answering(t, ok(example(t, "ClaimExplanationRefused"))).done("claim", "explain", "-o", "name")
	require.Empty(t, r.out)
	var refused struct{ Detail string }
	require.NoError(t, json.Unmarshal(example(t, "ClaimExplanationRefused"), &refused))
	require.Equal(t, refused.Detail+"\n", r.err)
}

func TestRemediesNameFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pointer, value, want string }{
		{"/spec/prefixLength", "22", "--prefix-length 22"},
		{"/spec/className", "", "--class"},
		{"/spec/poolRef/name", "", "--pool"},
		{"/spec/scope/cluster", "", "--scope cluster=..."},
		{"/spec/scope/cluster", "web", "--scope cluster=web"},
		{"/spec/other", "7", "/spec/other 7"},
	} {
		doc := `{"outcome":"Refused","code":"not_found","detail":"No.","steps":[],"remedies":[{"pointer":"` + c.pointer + `","value":"` + c.value + `","detail":"Change it."}]}`
		r := answering(t, ok(json.RawMessage(doc))).done("claim", "explain", "--no-headers")
		require.Equal(t, "Refused (not_found): No.\n\nChange it.   "+c.want+"\n", r.out)
	}
}

// If the project's class was deleted, the server returns the platform's class with the same name.
func TestDeletedClassIsGoneDespiteAPlatformClassOfItsName(t *testing.T) {
	t.Parallel()
	d := answering(t, cut(), ok(example(t, "IPClass")))
	require.Equal(t, "class standard deleted\n", d.done("class", "delete", "standard").out)
	require.Equal(t, []string{"DELETE", "GET"}, d.methods())

	d = answering(t, cut(), ok(example(t, "IPClassMinimal")))
	r := d.run("class", "delete", "web")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "There is a class of this name now")
}

func TestPatchWithoutRevisionIsRetriedAfterALostResponse(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"Class": {"class", "set", "web", "--description", "a"},
		"Pool":  {"pool", "set", "prod-eu", "--description", "a"},
	} {
		answer := map[string]json.RawMessage{"Class": example(t, "IPClass"), "Pool": example(t, "IPPool")}[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, cut(), ok(answer))
			d.done(args...)
			require.Equal(t, []string{"PATCH", "PATCH"}, d.methods())
			require.Equal(t, "*", d.requests()[1].header.Get("If-Match"))
		})
		t.Run(name+"OfARevision", func(t *testing.T) {
			t.Parallel()
			d := answering(t, cut())
			r := d.run(append(args, "--if-match", `"r"`)...)
			require.Equal(t, 5, r.code, "its own success would look like somebody else's change")
			require.Contains(t, r.err, "It is unknown whether the "+strings.ToLower(name)+" was changed. Run the command again")
			d = answering(t, refusal(t, "ProblemContention"), ok(answer))
			d.done(append(args, "--if-match", `"r"`)...) // a refusal changes nothing, so the command can try again
		})
	}
}

func TestRefusalShowsOnlyTheFirstSteps(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(example(t, "ProblemExhaustedByCooldown"), &doc))
	step := map[string]any{"kind": "pool", "name": "team-a/p", "outcome": "skipped", "detail": "is full."}
	doc["steps"] = []any{step, step, step, step, step, step, step}
	r := answering(t, reply{status: 409, body: marshal(t, doc)}).run("claim", "create", "web")
	require.Equal(t, 4, r.code)
	require.Equal(t, 5, strings.Count(r.err, "skipped:        pool team-a/p: is full."))
	require.Contains(t, r.err, "and:            2 steps more; 'ipamctl claim explain' with the same flags shows all")
	require.Contains(t, r.err, "cooled down at: 2026-03-05T10:30:00Z")

	doc["detail"], step["detail"] = "No /24 is free.", "No /24 is free."
	r = answering(t, reply{status: 409, body: marshal(t, doc)}).run("claim", "create", "web")
	require.Equal(t, 1, strings.Count(r.err, "No /24 is free."), "a step that says what the first line says")
}

func TestShellsCompleteClasses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"claim", "create", "--class", ""}, {"claim", "explain", "--class", ""}, {"claim", "list", "--class", ""}, {"pool", "create", "--class", ""},
		{"pool", "set", "prod-eu", "--class", ""}, {"pool", "list", "--class", ""}, {"class", "delete", ""}, {"class", "show", ""}, {"quota", "set", "q", "--for-class", ""},
	} {
		d := answering(t, ok(example(t, "IPClassList")))
		require.Contains(t, d.done(append([]string{"__complete"}, args...)...).out, "standard\n", args)
	}
}

func TestShellsCompleteRegions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"pool", "create", "--region", ""}, {"pool", "create", "--regions", ""}, {"pool", "set", "global", "--regions", ""}} {
		d := answering(t, ok(example(t, "RegionList")))
		require.Contains(t, d.done(append([]string{"__complete"}, args...)...).out, "eu\nus\nap\n", args)
	}
}

func TestQuotaCanBeLimitedToAClass(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--for-class", "--class"} {
		d := answering(t, refusal(t, "ProblemNotFound"), created(example(t, "Quota")))
		d.done("quota", "set", "q", flag, "platform/standard", "--claims", "5")
		require.JSONEq(t, `{"spec":{"scope":{"classRef":{"project":"platform","name":"standard"}},"limits":{"claims":5}}}`, string(d.requests()[1].body))
	}
	var doc map[string]any
	require.NoError(t, json.Unmarshal(example(t, "Quota"), &doc))
	spec, isMap := doc["spec"].(map[string]any)
	require.True(t, isMap)
	spec["scope"] = map[string]any{"classRef": map[string]any{"name": "web"}, "ipFamily": "IPv4"}
	require.Contains(t, answering(t, ok(marshal(t, doc))).done("quota", "get", "q").out, "class team-a/web IPv4")
}
