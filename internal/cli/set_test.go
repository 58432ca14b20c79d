package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetPatchesMutableFields(t *testing.T) {
	t.Parallel()
	claim, project, space := example(t, "IPClaim"), example(t, "Project"), example(t, "Space")
	for name, c := range map[string]struct {
		args   []string
		answer json.RawMessage
		uri    string
		body   string
	}{
		"LabelsOfAClaim": {
			[]string{"claim", "set", "web-eu", "--label", "a=b", "--label", "old-", "--annotation", "note="}, claim, "/v1/projects/team-a/claims/web-eu",
			`{"metadata":{"labels":{"a":"b","old":null},"annotations":{"note":""}}}`,
		},
		"PolicyOfAClaim": {
			[]string{"claim", "set", "web-eu", "--reclaim-policy", "retain", "--dry-run"}, claim, "/v1/projects/team-a/claims/web-eu?dryRun=true",
			`{"spec":{"reclaimPolicy":"Retain"}}`,
		},
		"DefaultPolicyOfAClaim": {
			[]string{"claim", "set", "web-eu", "--reclaim-policy", "none"}, claim, "/v1/projects/team-a/claims/web-eu", `{"spec":{"reclaimPolicy":null}}`,
		},
		"Project": {
			[]string{"project", "set", "team-a", "--display-name", "Team A", "--description", "", "--label", "unit=shops"}, project, "/v1/projects/team-a",
			`{"metadata":{"labels":{"unit":"shops"}},"spec":{"displayName":"Team A","description":""}}`,
		},
		"Space": {
			[]string{"space", "set", "lab", "--description", "Lab"}, space, "/v1/projects/team-a/spaces/lab", `{"spec":{"description":"Lab"}}`,
		},
		"ClaimOfAnotherProject": {
			[]string{"claim", "set", "team-b/web-eu", "--label", "a=b"}, claim, "/v1/projects/team-b/claims/web-eu", `{"metadata":{"labels":{"a":"b"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, ok(c.answer))
			d.done(c.args...)
			s := d.requests()[0]
			require.Equal(t, "PATCH "+c.uri, s.method+" "+s.uri)
			require.Equal(t, "*", s.header.Get("If-Match"))
			require.JSONEq(t, c.body, string(s.body))
		})
	}
	d := answering(t, ok(claim))
	d.done("claim", "set", "web-eu", "--label", "a=b", "--if-match", `"r1"`)
	require.Equal(t, `"r1"`, d.requests()[0].header.Get("If-Match"))
}

// Only the creation of a claim sets its labels. If a put has other labels, it prints a warning, because a script that searches by labels would not
// find the claim.
func TestPutWarnsAboutUnchangedLabels(t *testing.T) {
	t.Parallel()
	var claim struct {
		Metadata struct{ Labels map[string]string }
	}
	require.NoError(t, json.Unmarshal(example(t, "IPClaim"), &claim))
	var key, value string
	for key, value = range claim.Metadata.Labels {
		break
	}
	require.NotEmpty(t, key)
	put := func(more ...string) result {
		return answering(t, ok(example(t, "IPClaim"))).done(append([]string{"claim", "put", "web-eu", "--pool", "prod-eu"}, more...)...)
	}
	for _, quiet := range [][]string{nil, {"-q"}} {
		r := put(append(quiet, "--label", key+"=other", "--label", "new=1")...)
		require.Contains(t, r.err, "warning: claim web-eu is unchanged: ")
		require.Contains(t, r.err, "label "+key+` is "`+value+`", not "other"`)
		require.Contains(t, r.err, "label new is not set; 'ipamctl claim set web-eu' changes it\n")
	}
	require.Equal(t, "10.20.1.0/24\n", put("-q", "--label", "new=1").out)
	require.Empty(t, put("-q", "--label", key+"="+value).err)
	require.NotContains(t, put().err, "warning")
}

func TestUnknownVerbIsReportedBeforeItsFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`ipamctl claim has no verb "update"; did you mean set?`: {"claim", "update", "web", "--label", "a=b"},
		`ipamctl claim has no verb "frob"`:                      {"claim", "frob", "--frobs", "2"},
		`ipamctl has no verb "clams"`:                           {"clams", "--label", "a=b"},
		"unknown flag: --colour":                                {"claim", "--colour"},
	} {
		d := answering(t)
		r := d.run(args...)
		require.Equal(t, 2, r.code)
		require.Contains(t, r.err, "error: "+want)
		require.Empty(t, d.requests())
	}
}
