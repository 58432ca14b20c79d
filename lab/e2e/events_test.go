package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// event is a row of the audit trail.
type event struct {
	ID, Project, Subject, Method, Remote, RequestID, Operation, Kind, Name, Outcome string
	Before, After                                                                   map[string]any
}

// events is the whole trail of all projects that there are, in order of time, but for the events of some ids.
func (w *world) events(t testing.TB, without ...string) []event {
	t.Helper()
	rows, err := w.sql.Query(t.Context(), `
		SELECT e.id::TEXT, p.name, e.subject, e.method, e.remote, e.request_id, e.operation, e.kind, e.name, e.outcome, e.before, e.after
		FROM audit_events AS e JOIN projects AS p ON p.id = e.project_id WHERE e.id <> ALL ($1::UUID[]) ORDER BY e.id`, append([]string{}, without...))
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[event])
	require.NoError(t, err)
	return out
}

// newEvents runs f and answers what the trail has more afterwards.
func (w *world) newEvents(t testing.TB, f func()) []event {
	t.Helper()
	rows, err := w.sql.Query(t.Context(), "SELECT id::TEXT FROM audit_events")
	require.NoError(t, err)
	before, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	f()
	return w.events(t, before...)
}

// neverChanges runs f and demands that the trail has grown, and what was there is there still, as it was. The trail of a project that is
// deleted goes with it.
func (w *world) neverChanges(t testing.TB, f func()) {
	t.Helper()
	before := w.events(t)
	f()
	after := map[string]event{}
	for _, e := range w.events(t) {
		after[e.ID] = e
	}
	require.Greater(t, len(after), len(before))
	projects := w.dump(t)["projects"]
	for _, e := range before {
		if slices.ContainsFunc(projects, func(row string) bool { return strings.Contains(row, " name="+e.Project+" ") }) {
			require.Equal(t, e, after[e.ID])
		}
	}
}

// resourceKinds are the kinds of the resources that the trail names, by the last collection in a path.
var resourceKinds = map[string]string{
	"projects": "Project", "spaces": "Space", "pools": "IPPool", "claims": "IPClaim", "claim-batches": "IPClaim", "claim-explanations": "IPClaim", "classes": "IPClass", "allocations": "IPAllocation",
	"members": "Member", "api-keys": "ApiKey", "quotas": "Quota", "pools/grants": "PoolGrant", "spaces/grants": "SpaceGrant",
}

// resourceKind is the kind of resource that an operation is about.
func (op *operation) resourceKind(t testing.TB) string {
	t.Helper()
	kind := ""
	for i, segment := range op.template {
		if segment == "grants" {
			segment = op.template[i-2] + "/" + segment
		}
		if k, known := resourceKinds[segment]; known {
			kind = k
		}
	}
	require.NotEmpty(t, kind, "%s is about no kind of resource that this test knows", op.id)
	return kind
}
