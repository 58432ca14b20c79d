package cli_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// exampleToken is the token in the contract's examples.
const exampleToken = "carve_a3d1c0f5e7b24a689c0b5d2f81e64c37_examplesecretexamplesecretexamplesecretexamplesecret"

func TestAccessFlagsAreSentInTheRequest(t *testing.T) {
	t.Parallel()
	member, key, grant := example(t, "Member"), example(t, "ApiKeyCreated"), example(t, "Grant")
	for name, c := range map[string]struct {
		args   []string
		answer reply
		uri    string
		body   string
	}{
		"Member": {
			[]string{"member", "set", "corp:alice@example.com", "--role", "Consumer", "--if-match", `"r"`, "--dry-run"}, ok(member),
			"PUT /v1/projects/team-a/members/corp:alice@example.com?dryRun=true", `{"spec":{"role":"consumer"}}`,
		},
		"MemberOfEverySign": {
			[]string{"member", "set", "a.b_c:d@e|f+g=h-i", "--role", "admin", "-q"}, created(member),
			"PUT /v1/projects/team-a/members/a.b_c:d@e%7Cf+g=h-i", `{"spec":{"role":"admin"}}`,
		},
		"MemberRemoved": {[]string{"member", "remove", "corp:alice@example.com"}, gone(), "DELETE /v1/projects/team-a/members/corp:alice@example.com", ""},
		"Key": {
			[]string{"key", "create", "pipeline", "--role", "consumer", "--expires-in", "30d", "--description", "Creates clusters", "--label", "unit=shops"},
			created(key), "POST /v1/projects/team-a/api-keys",
			`{"metadata":{"name":"pipeline","labels":{"unit":"shops"}},"spec":{"role":"consumer","expiresAt":"2026-04-05T12:00:00Z","description":"Creates clusters"}}`,
		},
		"KeyForHours": {
			[]string{"key", "create", "pipeline", "--role", "viewer", "--expires-in", "720h"}, created(key), "POST /v1/projects/team-a/api-keys",
			`{"metadata":{"name":"pipeline"},"spec":{"role":"viewer","expiresAt":"2026-04-05T12:00:00Z"}}`,
		},
		"KeyUntil": {
			[]string{"key", "create", "--generate-name", "ci-", "--role", "viewer", "--expires-at", "2027-03-02T01:00:00+01:00"}, created(key),
			"POST /v1/projects/team-a/api-keys", `{"metadata":{"generateName":"ci-"},"spec":{"role":"viewer","expiresAt":"2027-03-02T01:00:00+01:00"}}`,
		},
		"KeyForEver": {
			[]string{"key", "create", "pipeline", "--role", "viewer"}, created(key), "POST /v1/projects/team-a/api-keys",
			`{"metadata":{"name":"pipeline"},"spec":{"role":"viewer"}}`,
		},
		"KeyRevoked":   {[]string{"key", "revoke", "pipeline", "--if-match", `"r"`}, gone(), "DELETE /v1/projects/team-a/api-keys/pipeline", ""},
		"PoolGrant":    {[]string{"grant", "add", "team-a", "--pool", "shared-eu", "-p", "platform", "-q"}, created(grant), "PUT /v1/projects/platform/pools/shared-eu/grants/team-a", ""},
		"SpaceGrant":   {[]string{"grant", "add", "*", "--space", "internet"}, created(grant), "PUT /v1/projects/team-a/spaces/internet/grants/%2A", ""},
		"PoolGrants":   {[]string{"grant", "list", "--pool", "shared-eu"}, ok(example(t, "GrantList")), "GET /v1/projects/team-a/pools/shared-eu/grants?limit=500", ""},
		"SpaceGrants":  {[]string{"grant", "list", "--space", "internet"}, ok(example(t, "GrantList")), "GET /v1/projects/team-a/spaces/internet/grants?limit=500", ""},
		"PoolRevoked":  {[]string{"grant", "remove", "team-b", "--pool", "shared-eu"}, gone(), "DELETE /v1/projects/team-a/pools/shared-eu/grants/team-b", ""},
		"SpaceRevoked": {[]string{"grant", "remove", "*", "--space", "internet"}, gone(), "DELETE /v1/projects/team-a/spaces/internet/grants/%2A", ""},
		"QuotaDeleted": {[]string{"quota", "delete", "all"}, gone(), "DELETE /v1/projects/team-a/quotas/all", ""},
		"Events": {
			[]string{
				"event", "list", "--subject", "key:team-a/pipeline", "--operation", "createClaim", "--kind", "IPClaim", "--name", "web-eu", "--outcome", "ok",
				"--since", "4d", "--until", "2026-03-06T00:00:00Z", "--limit", "7", "--cursor", "c",
			}, ok(json.RawMessage(`{"items":[]}`)),
			"GET /v1/projects/team-a/audit-events?subject=key%3Ateam-a%2Fpipeline&operation=createClaim&resourceKind=IPClaim&resourceName=web-eu" +
				"&outcome=ok&since=2026-03-02T12%3A00%3A00Z&until=2026-03-06T00%3A00%3A00Z&limit=7&cursor=c", "",
		},
		"HistoryOfAMoment": {
			[]string{"history", "2001:db8::1", "--at", "3d"}, ok(json.RawMessage(`{"items":[]}`)),
			"GET /v1/projects/team-a/history?address=2001%3Adb8%3A%3A1&at=2026-03-03T12%3A00%3A00Z&limit=500", "",
		},
		"History": {[]string{"history", "10.20.65.9"}, ok(json.RawMessage(`{"items":[]}`)), "GET /v1/projects/team-a/history?address=10.20.65.9&limit=500", ""},
		"Search":  {[]string{"search", "env=prod", "--limit", "5"}, ok(example(t, "SearchName")), "GET /v1/search?q=env%3Dprod&limit=5", ""},
		"Whoami":  {[]string{"whoami"}, ok(example(t, "Whoami")), "GET /v1/whoami", ""},
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

func TestNewAPIKeyTokenIsPrintedOnce(t *testing.T) {
	t.Parallel()
	args := []string{"key", "create", "pipeline", "--role", "consumer"}
	for name, c := range map[string]struct {
		format []string
		out    string // the beginning of the expected output
		err    string
	}{
		"Table": {nil, "NAME       ROLE", "keep the token now"},
		"Wide":  {[]string{"-o", "wide"}, "NAME       ROLE", "keep the token now"},
		"JSON":  {[]string{"-o", "json"}, "{\n", "keep the token now"},
		"YAML":  {[]string{"-o", "yaml"}, "metadata:\n", "keep the token now"},
		"Quiet": {[]string{"-q"}, exampleToken + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := answering(t, created(example(t, "ApiKeyCreated"))).done(append(args, c.format...)...)
			require.True(t, strings.HasPrefix(r.out, c.out), r.out)
			require.Equal(t, 1, strings.Count(r.out, exampleToken))
			require.NotContains(t, r.err, exampleToken)
			require.Contains(t, r.err, c.err)
			if c.err == "" {
				require.Equal(t, c.out, r.out)
				require.Empty(t, r.err)
			}
		})
	}
	t.Run("RefusedWhereItWouldBeLost", func(t *testing.T) {
		t.Parallel()
		d := answering(t)
		r := d.run(append(args, "-o", "name")...)
		require.Equal(t, 2, r.code)
		require.Contains(t, r.err, "-o name does not show the token")
	})
	t.Run("AbsentInADryRun", func(t *testing.T) {
		t.Parallel()
		dry := reply{201, example(t, "ApiKey"), map[string]string{"Dry-Run": "true"}}
		d := answering(t, dry, dry)
		require.Equal(t, "dry run: nothing was written\n", d.run(append(args, "--dry-run")...).err)
		require.Empty(t, d.done(append(args, "--dry-run", "-q")...).out, "a name is no token")
	})
	t.Run("LostTokenIsReported", func(t *testing.T) {
		t.Parallel()
		replay := reply{201, example(t, "ApiKey"), map[string]string{"Idempotency-Replayed": "true"}}
		d := answering(t, cut(), replay)
		r := d.run(append(args, "-q")...)
		require.Equal(t, 1, r.code)
		require.Empty(t, r.out)
		require.Contains(t, r.err, "ipamctl key revoke pipeline -p team-a")
		require.Len(t, d.requests(), 2)
		require.Equal(t, d.requests()[0], d.requests()[1])
	})
	t.Run("PipedIntoAContext", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, created(example(t, "ApiKeyCreated")))
		d.set("pipeline", d.done(append(args, "-q")...).out, "--server", "https://ipam.example.com")
		require.Contains(t, d.done("context", "show").out, "a3d1c0f5e7b24a689c0b5d2f81e64c37")
	})
}

func TestWhoamiShowsServerAndCredential(t *testing.T) {
	t.Parallel()
	who := ok(example(t, "Whoami"))
	d := secretive(t, who, who, who, who)
	d.set("prod", apiKey, "--server", d.URL)
	requireGolden(t, "whoami", d.run("whoami").out)
	wide := d.run("whoami", "-o", "wide").out
	require.Contains(t, wide, d.URL+"   prod      key "+keyID+", from context prod")
	require.Equal(t, "corp:alice@example.com\n", d.run("whoami", "-q").out)
	require.JSONEq(t, string(example(t, "Whoami")), d.run("whoami", "-o", "json").out)

	d = answering(t, ok(json.RawMessage(`{"subject":"corp:x","method":"oidc","platformAdmin":false,"roles":[]}`)))
	require.Equal(t, "no role in any project\n", d.done("whoami").err)
}

func TestSearchReportsEmptyAndTruncatedResults(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(json.RawMessage(`{"items":[],"truncated":false}`)), ok(json.RawMessage(`{"items":[],"truncated":true}`)))
	require.Equal(t, "nothing was found\n", d.run("search", "web").err)
	require.Contains(t, d.run("search", "web").err, "there may be more")
	require.Equal(t, 2, d.run("search", "").code)
	require.Equal(t, 2, d.run("search", "a", "b").code)
}

func TestRefusedGrantStopsTheFollowingOnesAndIsNamed(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "Grant")), refusal(t, "ProblemPermissionDenied"))
	r := d.run("grant", "add", "team-a", "team-b", "team-c", "--pool", "shared-eu")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "team-a")
	require.Contains(t, r.err, "the grant to team-a exists already")
	require.Contains(t, r.err, "error: grant to team-b: This needs the role")
	require.Len(t, d.requests(), 2)
}

// A grant on a pool that is not shared is no error. The command prints a hint. Without it, the owner would notice the problem only when the other
// project gets a refusal.
func TestGrantWithoutEffectPrintsAHint(t *testing.T) {
	t.Parallel()
	const hint = "the grant has no effect while the visibility of pool shared-eu is consumer: 'ipamctl pool set shared-eu --visibility shared' opens it"
	pool := func(visibility string) reply {
		var is map[string]any
		require.NoError(t, json.Unmarshal(example(t, "IPPool"), &is))
		is["spec"].(map[string]any)["visibility"] = visibility
		text, err := json.Marshal(is)
		require.NoError(t, err)
		return ok(text)
	}
	grant, project := ok(example(t, "Grant")), ok(example(t, "Project"))
	for name, c := range map[string]struct {
		args   []string
		script []reply
		want   bool
	}{
		"OfAClosedPool":  {[]string{"--pool", "shared-eu"}, []reply{grant, pool("consumer"), project}, true},
		"OfASharedPool":  {[]string{"--pool", "shared-eu"}, []reply{grant, pool("shared"), project}, false},
		"OfAHiddenPool":  {[]string{"--pool", "shared-eu"}, []reply{grant, refusal(t, "ProblemPermissionDenied"), project}, false},
		"OfASpace":       {[]string{"--space", "internet"}, []reply{grant, project}, false},
		"WhenItIsSilent": {[]string{"--pool", "shared-eu", "-q"}, []reply{grant}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, c.script...)
			r := d.done(append([]string{"grant", "add", "team-a"}, c.args...)...)
			require.Equal(t, c.want, strings.Contains(r.err, hint), r.err)
			require.Len(t, d.requests(), len(c.script))
		})
	}
}

func TestContradictoryAccessFlagsAreRefusedBeforeARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"PathAsSubject":         {[]string{"member", "remove", ".."}, `".." is not a subject`},
		"SlashInASubject":       {[]string{"member", "get", "a/b"}, `"a/b" is not a subject`},
		"KeyAsSubject":          {[]string{"member", "set", "key:team-a/x", "--role", "admin"}, "is an API key, and a key has its own role"},
		"NoSubject":             {[]string{"member", "set", "--role", "admin"}, "needs a subject"},
		"TwoSubjects":           {[]string{"member", "set", "a", "b", "--role", "admin"}, "takes one argument at most"},
		"NoRole":                {[]string{"member", "set", "a"}, `required flag(s) "role" not set`},
		"NotARole":              {[]string{"member", "set", "a", "--role", "root"}, "must be one of viewer, consumer, provider, admin"},
		"KeyOfNoRole":           {[]string{"key", "create", "a"}, `required flag(s) "role" not set`},
		"KeyOfTwoEnds":          {[]string{"key", "create", "a", "--role", "viewer", "--expires-in", "1h", "--expires-at", "2027-03-02T00:00:00Z"}, "[expires-at expires-in]"},
		"KeyOfNoTime":           {[]string{"key", "create", "a", "--role", "viewer", "--expires-in", "0s"}, "longer than 0"},
		"KeyUntilSomeday":       {[]string{"key", "create", "a", "--role", "viewer", "--expires-at", "2027"}, "--expires-at must be a time"},
		"PathAsKey":             {[]string{"key", "revoke", ".."}, `".." is not the name of a key`},
		"GrantsOfNothing":       {[]string{"grant", "list"}, "a grant needs a pool or a space: give --pool or --space"},
		"GrantOfNothing":        {[]string{"grant", "add", "team-b"}, "a grant needs a pool or a space: give --pool or --space"},
		"GrantOfBoth":           {[]string{"grant", "add", "team-b", "--pool", "a", "--space", "b"}, "--pool or --space, not both"},
		"GrantWithoutAConsumer": {[]string{"grant", "add", "--pool", "a"}, "needs a consumer"},
		"GrantToAPath":          {[]string{"grant", "add", "..", "--pool", "a"}, `".." is not a consumer`},
		"GrantOfForeign":        {[]string{"grant", "add", "team-b", "--pool", "platform/a"}, `"platform/a" is not the name of a pool`},
		"GrantOfAPath":          {[]string{"grant", "list", "--space", ".."}, `".." is not the name of a space`},
		"QuotaOfWords":          {[]string{"quota", "set", "a", "--addresses", "many"}, "--addresses must be a number of addresses, or none"},
		"QuotaOfTooMany":        {[]string{"quota", "set", "a", "--addresses", "340282366920938463463374607431768211457000"}, "--addresses must be a number"},
		"QuotaOfDebts":          {[]string{"quota", "set", "a", "--claims", "-1"}, "--claims must be a number, or none"},
		"QuotaNotExact":         {[]string{"quota", "set", "a", "--pools", "9007199254740993"}, "--pools must be a number, or none"},
		"QuotaForAPath":         {[]string{"quota", "set", "a", "--for-pool", "a/b/c"}, "--for-pool is a name or project/name"},
		"QuotaOfAFamily":        {[]string{"quota", "set", "a", "--ip-family", "5"}, "must be IPv4 or IPv6"},
		"HistoryOfAWord":        {[]string{"history", "web"}, `"web" is not an address`},
		"HistoryOfABlock":       {[]string{"history", "10.0.0.0/8"}, `"10.0.0.0/8" is not an address`},
		"HistoryOfAZone":        {[]string{"history", "fe80::1%eth0"}, "is not an address"},
		"HistoryOfNothing":      {[]string{"history"}, "needs an address"},
		"HistoryOfLastWeek":     {[]string{"history", "10.0.0.1", "--at", "last week"}, "or an age like 90m or 3d"},
		"EventsSince":           {[]string{"event", "list", "--since", "2026"}, "must be a time like 2026-03-03T12:00:00Z"},
		"EventAlone":            {[]string{"event"}, "ipamctl event needs a verb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			r := d.run(c.args...)
			require.Equal(t, 2, r.code, r.err)
			require.Contains(t, r.err, c.want)
			require.Empty(t, r.out)
			require.Empty(t, d.requests())
		})
	}
}

func TestShellsCompleteAccessArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, args, want string }{
		{"MemberList", "member remove", "corp:bob@example.com"},
		{"ApiKeyList", "key revoke", "pipeline"},
		{"QuotaList", "quota set", "shared-eu"},
		{"GrantList", "grant remove --pool shared-eu", "team-a"},
		{"ProjectList", "grant add --pool shared-eu", "team-a"},
		{"IPPoolList", "quota set a --for-pool", "prod-eu-k8s"},
		{"", "member set a --role", "provider"},
		{"", "event list --outcome", "permission_denied"},
	} {
		d := answering(t)
		if c.answer != "" {
			d = answering(t, ok(lastPage(t, c.answer)))
		}
		require.Contains(t, d.done(append(append([]string{"__complete"}, strings.Fields(c.args)...), "")...).out, c.want+"\n", c.args)
	}
}

func TestHelpOfAuditAndEventListReferToEachOther(t *testing.T) {
	t.Parallel()
	d := answering(t)
	require.Contains(t, d.done("audit", "--help").out, "'ipamctl event list'")
	require.Contains(t, d.done("event", "list", "--help").out, "'ipamctl audit'")
}

func TestRateLimitIsRetriedThenExplained(t *testing.T) {
	t.Parallel()
	limited := refusal(t, "ProblemRateLimited")
	limited.header = map[string]string{"Retry-After": "7", "RateLimit": `"writes";r=0;t=7`, "RateLimit-Policy": `"writes";q=200;w=2`}
	d := answering(t, limited, ok(example(t, "Member")))
	r := d.done("member", "set", "corp:alice@example.com", "--role", "viewer")
	require.Contains(t, r.err, "the server responded 429 and asked to wait; trying again (2 of 5)")
	require.Equal(t, 7*time.Second, d.pauses[0])

	d = answering(t, limited, limited, limited, limited, limited)
	r = d.run("member", "set", "corp:alice@example.com", "--role", "viewer")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "  rate limit:     200 writes in 2 s\n  try again in:   7 s\n")
	require.Equal(t, http.MethodPut, d.requests()[4].method)

	other := refusal(t, "ProblemNotFound")
	other.header = map[string]string{"RateLimit": `"writes";r=399;t=1`, "RateLimit-Policy": `"writes";q=400;w=2`}
	require.NotContains(t, answering(t, other).run("pool", "get", "prod-eu").err, "rate limit")
}
