package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeleteByLabelsDeletesTheListedResources(t *testing.T) {
	t.Parallel()
	two := listOf(t, example(t, "IPPool"), example(t, "IPPoolChild"))
	d := answering(t, two)
	r := d.run("pool", "delete", "-l", "env=prod")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "2 pools would be deleted: use --yes to continue")
	require.Contains(t, d.requests()[0].uri, "labelSelector=env%3Dprod")

	d = answering(t, two)
	d.secret = func(string) ([]byte, error) { return nil, nil } // interactive
	d.in = "no\n"
	r = d.run("pool", "delete", "--all")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "prod-eu-k8s")
	require.Contains(t, r.err, "2 pools would be deleted. Continue? Type yes:\nerror: nothing was done")

	d = answering(t, two, gone(), gone())
	r = d.done("delete", "pools", "--all", "--yes")
	require.Equal(t, "pool prod-eu-k8s deleted\npool prod-eu deleted\n", r.out) // a child comes before its parent
	for _, s := range d.requests()[1:] {
		require.Equal(t, http.MethodDelete, s.method)
		require.NotEmpty(t, s.header.Get("If-Match"))
	}
	r = answering(t).run("pool", "delete", "a", "--all")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "give names, --selector or --all, and only one of these")
}

func TestListOfAllProjectsShowsTheProjectColumn(t *testing.T) {
	t.Parallel()
	d := answering(t, listOf(t, example(t, "Project")), listOf(t, example(t, "IPPool"), example(t, "IPPoolChild")))
	delete(d.env, "CARVE_PROJECT")
	r := d.done("pool", "list", "-A")
	require.True(t, strings.HasPrefix(r.out, "PROJECT   NAME          CIDR"), r.out)
	require.Contains(t, r.out, "team-a    prod-eu ")
	require.Contains(t, answering(t).run("get", "pools", "-A", "--limit", "3").err, "--all-projects does not work with --limit")
}

// A user can repeat a batch. The key of each part depends on the given key, so the server does not create finished parts again.
func TestLargeBatchIsSplitAndResumed(t *testing.T) {
	t.Parallel()
	var file struct {
		Claims []any `json:"claims"`
	}
	for i := range 1001 {
		file.Claims = append(file.Claims, map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("c-%d", i)}, "spec": map[string]any{}})
	}
	part := created(marshal(t, map[string]any{"claims": []json.RawMessage{example(t, "IPClaim")}}))
	run := func(script ...reply) (result, []sent) {
		d := answering(t, script...)
		d.in = string(marshal(t, file))
		return d.run("claim", "batch", "-f", "-", "-q", "--idempotency-key", "mine"), d.requests()
	}
	r, first := run(part, refusal(t, "ProblemPoolExhausted"))
	require.NotZero(t, r.code)
	require.Contains(t, r.err, "1 claim created; run it again to continue")
	require.Contains(t, r.err, " of the file")
	r, again := run(part, part, part)
	require.Zero(t, r.code, r.err)
	require.Equal(t, 3, strings.Count(r.out, "\n"))
	for i, s := range again {
		require.Equal(t, fmt.Sprintf("mine-%d", i+1), s.header.Get("Idempotency-Key"))
	}
	require.Equal(t, first[0].body, again[0].body)
}
