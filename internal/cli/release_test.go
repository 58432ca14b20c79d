package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownRelease returns the response of a dry run that found count claims and shows one of them.
func shownRelease(t *testing.T, count int, more bool, skipped ...any) reply {
	t.Helper()
	return ok(marshal(t, map[string]any{
		"released": 0, "gone": 0, "skipped": append([]any{}, skipped...), "count": count, "more": more, "token": "dG9r", "claims": []json.RawMessage{example(t, "IPClaim")},
	}))
}

func doneRelease(t *testing.T, released int, cursor string, skipped ...any) reply {
	t.Helper()
	doc := map[string]any{"released": released, "gone": 0, "skipped": append([]any{}, skipped...)}
	if cursor != "" {
		doc["nextCursor"] = cursor
	}
	return ok(marshal(t, doc))
}

func TestBulkReleaseContinuesOverSeveralRequests(t *testing.T) {
	t.Parallel()
	stays := map[string]any{"name": "web", "code": "in_use", "detail": "It is in use."}
	d := answering(t, shownRelease(t, 300, false), doneRelease(t, 250, "bmV4dA"), doneRelease(t, 49, "", stays))
	r := d.run("release", "--owner", "VM/web", "--yes")
	require.Equal(t, 4, r.code, r.err)
	require.Equal(t, "299 of 300 claims released\n", r.out)
	require.Contains(t, r.err, "250 of 300 claims released\n")
	require.Contains(t, r.err, "claim web stays (in_use): It is in use.\n")
	seen := d.requests()
	require.True(t, strings.HasSuffix(seen[0].uri, "/claim-releases?dryRun=true"))
	require.JSONEq(t, `{"select": {"owner": "VM/web"}, "token": "dG9r", "limit": 250}`, string(seen[1].body))
	require.JSONEq(t, `{"select": {"owner": "VM/web"}, "cursor": "bmV4dA", "limit": 250}`, string(seen[2].body))
	for _, s := range seen {
		require.Empty(t, s.header.Values("Idempotency-Key"))
	}
}

// If a claim has other consumers, it stays. The command reports that, even if it releases other claims.
func TestReleaseByConsumerReportsSharedClaims(t *testing.T) {
	t.Parallel()
	stays := map[string]any{"name": "web", "code": "in_use", "detail": "Others use it."}
	d := answering(t, shownRelease(t, 1, false, stays), doneRelease(t, 1, "", stays))
	r := d.run("release", "--consumer", "vm-1", "--realm", "rack", "--yes")
	require.Equal(t, 4, r.code, r.err)
	require.Equal(t, "1 of 1 claims released\n", r.out)
	require.Equal(t, "claim web stays (in_use): Others use it.\n", r.err)
	require.JSONEq(t, `{"select": {"consumer": {"uid": "vm-1", "realm": "rack"}}}`, string(d.requests()[0].body))

	r = answering(t, shownRelease(t, 1, false, stays)).done("release", "--consumer", "vm-1", "--dry-run")
	require.Equal(t, "claim web stays (in_use): Others use it.\n1 claim would be released\n", r.err)
	d = answering(t, shownRelease(t, 0, false, stays))
	require.Equal(t, 4, d.run("release", "--consumer", "vm-1").code)
	require.JSONEq(t, `{"select": {"consumer": {"uid": "vm-1"}}}`, string(d.requests()[0].body))
	require.Equal(t, 2, answering(t).run("release", "--pool", "p", "--realm", "rack").code)
}

func TestBulkReleaseNeedsConfirmationOrDryRun(t *testing.T) {
	t.Parallel()
	t.Run("DryRun", func(t *testing.T) {
		t.Parallel()
		d := answering(t, shownRelease(t, 1, false))
		r := d.done("release", "web-eu", "--dry-run")
		require.Contains(t, r.out, "web-eu")
		require.Contains(t, r.err, "1 claim would be released\n")
	})
	t.Run("WithoutATerminal", func(t *testing.T) {
		t.Parallel()
		d := answering(t, shownRelease(t, 2, false))
		require.Equal(t, 2, d.run("release", "--pool", "p").code)
	})
	for answer, code := range map[string]int{"yes\n": 0, "no\n": 1, "": 1} {
		t.Run("Asked"+strings.TrimSpace(answer), func(t *testing.T) {
			t.Parallel()
			script := []reply{shownRelease(t, 1, false)}
			if code == 0 {
				script = append(script, doneRelease(t, 1, ""))
			}
			d := answering(t, script...)
			d.secret, d.in = func(string) ([]byte, error) { return nil, nil }, answer
			r := d.run("release", "--selector", "a=b")
			require.Equal(t, code, r.code, r.err)
			require.Contains(t, r.err, "1 claim: web-eu\n")
		})
	}
	t.Run("Nothing", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, answering(t, ok(example(t, "ClaimReleaseShown"))).done("release", "--class", "c").err, "nothing to release")
	})
	t.Run("TooMany", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, 2, answering(t, shownRelease(t, 10000, true)).run("release", "--class", "c", "--yes").code)
	})
	t.Run("Usage", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"release"}, {"release", "web", "--pool", "p"}} {
			require.Equal(t, 2, answering(t).run(args...).code)
		}
	})
}

// A variable in a shell script may be empty. It must not make the selection of a release larger.
func TestEmptyReleaseConditionIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"release", "--class", "web", "--owner", "", "--yes"},
		{"release", "--owner", "VM/web", "--pool=", "--yes"},
		{"release", "node-1", "--selector", ""},
		{"claim", "create", "x", "--class", "web", "--address", ""},
		{"claim", "create", "x", "--class", "web", "--cidr="},
	} {
		d := answering(t)
		r := d.run(args...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.err, " is empty: give it a value, or omit it", args)
		require.Empty(t, d.requests(), args)
	}
}
