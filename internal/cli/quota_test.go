package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotaSetMergesIntoTheExistingQuota(t *testing.T) {
	t.Parallel()
	is := example(t, "Quota")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"OneLimit":    {[]string{"--claims", "700"}, `{"addresses":"4096","claims":700}`},
		"Another":     {[]string{"--pools", "0"}, `{"addresses":"4096","claims":500,"pools":0}`},
		"Exactly":     {[]string{"--addresses", "340282366920938463463374607431768211456"}, `{"addresses":"340282366920938463463374607431768211456","claims":500}`},
		"OneLess":     {[]string{"--claims", "none"}, `{"addresses":"4096"}`},
		"SameScope":   {[]string{"--for-pool", "platform/shared-eu", "--family", "4"}, `{"addresses":"4096","claims":500}`},
		"NothingElse": {[]string{}, `{"addresses":"4096","claims":500}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, ok(is), ok(is))
			d.done(append([]string{"quota", "set", "shared-eu"}, c.args...)...)
			put := d.requests()[1]
			require.Equal(t, "PUT /v1/projects/team-a/quotas/shared-eu", put.method+" "+put.uri)
			require.Equal(t, `"some-revision"`, put.header.Get("If-Match"), "what somebody else changed meanwhile is not lost")
			require.JSONEq(t, `{"spec":{"scope":{"poolRef":{"project":"platform","name":"shared-eu"},"ipFamily":"IPv4"},"limits":`+c.want+
				`,"description":"What the shops may take from the shared pool"}}`, string(put.body))
		})
	}
}

func TestQuotaSetCreatesAMissingQuota(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"Everything": {[]string{"--addresses", "65536", "--claims", "1000", "--pools", "10"}, `{"limits":{"addresses":"65536","claims":1000,"pools":10}}`},
		"OnePool": {
			[]string{"--for-pool", "platform/shared-eu", "--ip-family", "6", "--claims", "5", "--description", "few"},
			`{"scope":{"poolRef":{"project":"platform","name":"shared-eu"},"ipFamily":"IPv6"},"limits":{"claims":5},"description":"few"}`,
		},
		"OwnPool":   {[]string{"--for-pool", "prod-eu", "--pools", "2"}, `{"scope":{"poolRef":{"name":"prod-eu"}},"limits":{"pools":2}}`},
		"OneFamily": {[]string{"--family", "v4", "--claims", "9"}, `{"scope":{"ipFamily":"IPv4"},"limits":{"claims":9}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, refusal(t, "ProblemNotFound"), created(example(t, "Quota")))
			d.done(append([]string{"quota", "set", "q", "--dry-run"}, c.args...)...)
			put := d.requests()[1]
			require.Equal(t, "/v1/projects/team-a/quotas/q?dryRun=true", put.uri)
			require.Empty(t, put.header.Get("If-Match"))
			require.Equal(t, "*", put.header.Get("If-None-Match"), "what somebody else made meanwhile is not lost")
			require.JSONEq(t, `{"spec":`+c.want+`}`, string(put.body))
		})
	}
}

func TestQuotaWithoutALimitIsRefused(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]reply{"New": refusal(t, "ProblemNotFound"), "Emptied": ok(example(t, "Quota"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, answer)
			r := d.run("quota", "set", "shared-eu", "--claims", "none", "--addresses", "none")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, "'ipamctl quota delete shared-eu' removes it")
			require.Equal(t, []string{"GET"}, d.methods())
		})
	}
}

func TestConcurrentlyChangedQuotaIsAConflict(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "Quota")), refusal(t, "ProblemPreconditionFailed"))
	require.Equal(t, 4, d.run("quota", "set", "shared-eu", "--claims", "7").code)
	d = answering(t, ok(example(t, "Quota")), refusal(t, "ProblemPreconditionFailed"))
	d.run("quota", "set", "shared-eu", "--claims", "7", "--if-match", `"of-yesterday"`)
	require.Equal(t, `"of-yesterday"`, d.requests()[1].header.Get("If-Match"))
}

// The command does not retry a PUT with a precondition. If the first attempt succeeded, the server would refuse the retry.
func TestQuotaSetIsNotRetriedAfterALostResponse(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "Quota")), cut())
	r := d.run("quota", "set", "shared-eu", "--claims", "7")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "It is unknown whether the quota was set. Run the command again")
	require.Len(t, d.requests(), 2)

	d = answering(t, ok(example(t, "Quota")), refusal(t, "ProblemContention"), ok(example(t, "Quota")))
	d.done("quota", "set", "shared-eu", "--claims", "7") // a refusal changes nothing, so the command can try again
}

func TestQuotaListShowsUsageAndLimits(t *testing.T) {
	t.Parallel()
	over := json.RawMessage(`{"items":[{"metadata":{"name":"all","uid":"507193b5-cfd1-43e5-b608-1a2cd4e56768","project":"team-a","generation":1,
	  "revision":"r","createdAt":"2026-03-02T09:30:00Z","updatedAt":"2026-03-02T09:30:00Z","createdBy":"dev"},
	  "spec":{"limits":{"addresses":"340282366920938463463374607431768211456","claims":2,"pools":0}},
	  "status":{"owner":"platform","used":{"addresses":"170141183460469231731687303715884105728","claims":3,"pools":1},"available":{}}}]}`)
	d := answering(t)
	d.Config.Handler = respondingWith(over)
	requireGolden(t, "quota-over", d.done("quota", "list", "-o", "wide").out)
}

func TestQuotaSetMergesIntoAConcurrentlyCreatedQuota(t *testing.T) {
	t.Parallel()
	is := example(t, "Quota")
	d := answering(t, refusal(t, "ProblemNotFound"), refusal(t, "ProblemPreconditionFailed"), ok(is), ok(is))
	d.done("quota", "set", "shared-eu", "--pools", "0")
	all := d.requests()
	require.Equal(t, "*", all[1].header.Get("If-None-Match"))
	require.Equal(t, `"some-revision"`, all[3].header.Get("If-Match"))
	require.Contains(t, string(all[3].body), `"claims":500`)
}
