package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// changed returns a response of the change feed. It has created or changed claims, and the names of deleted claims.
func changed(t *testing.T, cursor string, puts []json.RawMessage, gone ...string) reply {
	t.Helper()
	items := []any{}
	change := func(name, kind string, object json.RawMessage) {
		c := map[string]any{"kind": "IPClaim", "name": name, "type": kind, "at": "2026-03-02T09:31:00Z", "operation": "putClaim"}
		if object != nil {
			c["object"] = object
		}
		items = append(items, c)
	}
	for _, doc := range puts {
		var c struct{ Metadata struct{ Name string } }
		require.NoError(t, json.Unmarshal(doc, &c))
		change(c.Metadata.Name, "Put", doc)
	}
	for _, name := range gone {
		change(name, "Delete", nil)
	}
	return ok(marshal(t, map[string]any{"items": items, "cursor": cursor}))
}

// listedAt returns the first page of a list, with the cursor for its changes.
func listedAt(t *testing.T, cursor string, items ...json.RawMessage) reply {
	t.Helper()
	return ok(marshal(t, map[string]any{"items": append([]json.RawMessage{}, items...), "changesCursor": cursor}))
}

func claimNamed(t *testing.T, name, cidr string) json.RawMessage {
	t.Helper()
	return made{name: name, cidr: cidr, parent: "team-a/prod"}.claim(t)
}

// watched returns a server for all stages of a watch. The server is busy first. Then the cursor expires. At last the caller loses its rights.
func watched(t *testing.T) *double {
	t.Helper()
	a, b, longer := claimNamed(t, "a", "10.0.0.0/24"), claimNamed(t, "b", "10.0.1.0/24"), claimNamed(t, "one-with-a-longer-name", "10.0.2.0/24")
	busy := refusal(t, "ProblemUnavailable")
	return answering(t, listedAt(t, "x", a, b), changed(t, "y", []json.RawMessage{a, longer}, "b", "never-seen"), busy, busy, busy, busy, busy,
		changed(t, "z", nil), refusal(t, "ProblemCursorExpired"), listedAt(t, "v", a), refusal(t, "ProblemPermissionDenied"))
}

func TestWatchedListContinuesWithChanges(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, format := range [][]string{{"-o", "table"}, {"-o", "wide", "--no-headers"}, {"-o", "json"}, {"-o", "yaml"}, {"-q"}} {
		d := watched(t)
		args := append([]string{"claim", "list", "--watch", "-l", "env=prod"}, format...)
		r := d.run(args...)
		require.Equal(t, 1, r.code, r.err)
		require.Contains(t, r.err, "The watch continues from the last change.\n")
		require.Contains(t, r.err, "error: the watch has ended: ")
		require.Contains(t, r.err, "permission_denied (403)")
		seen := d.requests()
		require.Equal(t, "/v1/projects/team-a/claims?labelSelector=env%3Dprod&limit=500", seen[0].uri)
		require.Equal(t, "/v1/projects/team-a/changes?resourceKind=IPClaim&labelSelector=env%3Dprod&after=x&waitSeconds=10", seen[1].uri)
		require.Contains(t, seen[2].uri, "after=y")
		require.Contains(t, seen[len(seen)-1].uri, "after=v", "after the second list")
		all.WriteString("$ ipamctl " + strings.Join(args, " ") + "\n" + r.out + "\n")
	}
	requireGolden(t, "watch", all.String())
}

func TestSingleResourceIsWatchedByName(t *testing.T) {
	t.Parallel()
	web := claimNamed(t, "web", "10.0.0.0/24")
	denied := refusal(t, "ProblemPermissionDenied")
	t.Run("Deleted", func(t *testing.T) {
		t.Parallel()
		d := answering(t, changed(t, "x", nil), ok(web), changed(t, "y", nil, "web"), denied)
		r := d.run("claim", "get", "team-b/web", "--watch", "--no-headers")
		require.Equal(t, 1, r.code)
		require.Regexp(t, `(?s)^-  +web .*\nDelete +web [^\n]*\n$`, r.out)
		require.Equal(t, "/v1/projects/team-b/changes?resourceKind=IPClaim&resourceName=web&waitSeconds=0", d.requests()[0].uri)
	})
	t.Run("Missing", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, 3, answering(t, changed(t, "x", nil), refusal(t, "ProblemNotFound")).run("claim", "get", "web", "--watch").code)
	})
	t.Run("DeletedMeanwhile", func(t *testing.T) {
		t.Parallel()
		d := answering(t, changed(t, "x", nil), ok(web), refusal(t, "ProblemCursorExpired"), changed(t, "y", nil), refusal(t, "ProblemNotFound"), denied)
		require.Equal(t, "10.0.0.0/24\n10.0.0.0/24\n", d.run("claim", "get", "web", "--watch", "-q").out)
	})
	t.Run("ForeignBlock", func(t *testing.T) {
		t.Parallel()
		d := answering(t, changed(t, "x", nil), ok(example(t, "IPAllocationForeign")))
		r := d.run("allocation", "get", "c6172839-4a5b-46c7-98d9-eafb0c1d2e3f", "--watch", "-p", "platform")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.err, "cannot be watched from project platform: its feed contains only the held and retained blocks of the project itself")
	})
}

// A watch of a list shows only objects that the change feed contains. It shows no changes of other realms.
func TestWatchShowsOnlyMatchingFeedChanges(t *testing.T) {
	t.Parallel()
	denied := refusal(t, "ProblemPermissionDenied")
	var shared map[string]any
	require.NoError(t, json.Unmarshal(example(t, "IPClass"), &shared))
	shared["metadata"].(map[string]any)["project"] = "platform"
	d := answering(t, listedAt(t, "x", marshal(t, shared)), denied)
	r := d.run("class", "list", "-w")
	require.Empty(t, r.out)
	require.Contains(t, r.err, "no classes\n")

	var list struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(example(t, "IPConsumerList"), &list))
	const uid = "5f1c9a7e-3d53-4a59-9a53-0c4a7f0f2b11"
	of := func(realm string) map[string]any {
		return map[string]any{"kind": "IPConsumer", "name": realm + "/" + uid, "type": "Delete", "at": "2026-03-02T09:31:00Z", "operation": ""}
	}
	d = answering(t, listedAt(t, "x", list.Items...), ok(marshal(t, map[string]any{"items": []any{of("other"), of("default")}, "cursor": "y"})), denied)
	require.Equal(t, uid+"\n"+uid+"\n", d.run("consumer", "list", "-w", "-q").out)
}

func TestWatchRefusesFiltersTheFeedLacks(t *testing.T) {
	t.Parallel()
	const byName = "use a name (ipamctl claim get NAME --watch), or --selector, or a list without --watch"
	for args, want := range map[string]string{
		"claim list --watch --pool p":            "--watch does not work with --pool; " + byName,
		"claim list --watch --limit 3":           "--limit",
		"claim list --watch --consistency stale": "--consistency",
		"class list --watch --family 4":          "--family; use --selector, or a list without --watch",
		"quota list --watch --cursor a":          "use a name (ipamctl quota get NAME --watch), or a list without --watch",
		"consumer list --watch --phase live":     "--phase",
		"allocation list --watch":                "--watch needs --held: the feed contains only the held and retained blocks of the project itself",
		"claim get a b --watch":                  "--watch works with one claim, or with a list: see 'ipamctl claim list --help'",
		"space list --watch":                     "unknown flag: --watch",
		"changes --kind IPSpace":                 "--kind must be one of IPPool, IPClaim, IPAllocation, IPClass, Quota, IPConsumer, Alert",
	} {
		d := answering(t)
		r := d.run(strings.Fields(args)...)
		require.Equal(t, 2, r.code, r.err)
		require.Contains(t, r.err, want)
	}
}

func TestFeedIsPrintedInEveryFormat(t *testing.T) {
	t.Parallel()
	last := changed(t, "last", nil)
	var all strings.Builder
	for _, format := range []string{"table", "json", "yaml", "name"} {
		d := answering(t, ok(example(t, "ChangeList")), last)
		r := d.done("changes", "--cursor", "first", "--kind", "ipclaim,Quota", "--kind", "IPPool", "--name", "web", "-l", "a=b", "-o", format)
		seen := d.requests()
		require.Equal(t, "/v1/projects/team-a/changes?resourceKind=IPClaim%2CQuota%2CIPPool&resourceName=web&labelSelector=a%3Db&after=first&waitSeconds=0", seen[0].uri)
		require.Contains(t, seen[1].uri, "after=AQIDBAUGBwgJCgsMDQ4PEA")
		all.WriteString("$ ipamctl changes -o " + format + "\n" + r.out + r.err + "\n")
	}
	requireGolden(t, "changes", all.String())
	require.Equal(t, "continue with --cursor last\n", answering(t, last).done("changes").err)
}

func TestFeedIsFollowedUntilItEnds(t *testing.T) {
	t.Parallel()
	script := []reply{changed(t, "x", nil), ok(example(t, "ChangeList")), refusal(t, "ProblemCursorExpired")}
	d := answering(t, script...)
	r := d.run("changes", "--follow", "--no-headers")
	require.Equal(t, 1, r.code)
	require.Regexp(t, `^2026-03-02T09:30:00Z +IPClaim +web-eu +Put +createClaim\n2026-03-02T09:31:00Z +IPClaim +web-us +Delete +deleteClaim\n$`, r.out)
	require.Contains(t, r.err, "error: the feed has ended: ")
	require.Contains(t, r.err, "continue with --cursor AQIDBAUGBwgJCgsMDQ4PEA\n")
	require.Contains(t, d.requests()[0].uri, "waitSeconds=0")
	require.Contains(t, d.requests()[1].uri, "after=x&waitSeconds=10")
	r = answering(t, script...).run("changes", "--follow", "-o", "json")
	require.Equal(t, 1, strings.Count(r.out, "\n"), "a line for each answer")
	require.JSONEq(t, string(example(t, "ChangeList")), r.out)
	require.Equal(t, 1, answering(t, refusal(t, "ProblemPermissionDenied")).run("changes", "--follow").code)
}
