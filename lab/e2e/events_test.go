package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// event is a record of the audit trail.
type event struct {
	ID, Project, Subject, Method, Remote, RequestID, Operation, Kind, Name, Outcome string
	Before, After                                                                   map[string]any
}

// trail returns all stored events, oldest first.
func (w *world) trail(t testing.TB) (all []ipam.Event) {
	t.Helper()
	answer, err := w.sql.Query(t.Context(), "SELECT project_id, id, count, events FROM audit_events ORDER BY id")
	require.NoError(t, err)
	var row rows.EventRow
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&row.ProjectID), (*[16]byte)(&row.ID), &row.Count, &row.Events}, func() error {
		events, err := row.Unpack()
		all = append(all, events...)
		return err
	})
	require.NoError(t, err)
	return all
}

// events returns the audit trail of all existing projects, oldest first. It leaves out the given events.
func (w *world) events(t testing.TB, without ...ipam.Event) (out []event) {
	t.Helper()
	names := map[ipam.ID]string{}
	answer, err := w.sql.Query(t.Context(), "SELECT id, name FROM projects")
	require.NoError(t, err)
	var id ipam.ID
	var name string
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&id), &name}, func() error {
		names[id] = name
		return nil
	})
	require.NoError(t, err)
	for _, e := range w.trail(t) {
		project, there := names[e.ProjectID]
		if !there || slices.ContainsFunc(without, func(old ipam.Event) bool { return old.ID == e.ID }) {
			continue
		}
		out = append(out, event{
			e.ID.String(), project, e.Subject, e.Method, e.Remote, e.RequestID, e.Operation, e.Kind, e.Name, e.Outcome, object(t, e.Before), object(t, e.After),
		})
	}
	return out
}

func object(t testing.TB, text json.RawMessage) (out map[string]any) {
	t.Helper()
	if text != nil {
		require.NoError(t, json.Unmarshal(text, &out))
	}
	return out
}

// newEvents calls f and returns the events that f added to the audit trail.
func (w *world) newEvents(t testing.TB, f func()) []event {
	t.Helper()
	before := w.trail(t)
	f()
	return w.events(t, before...)
}

// neverChanges calls f. Afterwards the audit trail must be longer and the existing events unchanged. If a project is deleted, its events disappear
// with it.
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

// resourceKinds maps the last collection in a path to the kind that the trail records.
var resourceKinds = map[string]string{
	"projects": "Project", "spaces": "Space", "pools": "IPPool", "claims": "IPClaim", "claim-batches": "IPClaim", "claim-explanations": "IPClaim", "claim-releases": "IPClaim", "scopes": "IPPool", "classes": "IPClass", "allocations": "IPAllocation",
	"members": "Member", "api-keys": "ApiKey", "quotas": "Quota", "pools/grants": "PoolGrant", "spaces/grants": "SpaceGrant",
	"consumers": "IPConsumer", "consumer-renewals": "IPConsumer", "expiry-confirmations": "Realm",
	"webhooks": "Webhook", "deliveries": "Webhook", "retries": "Webhook", "alert-rules": "AlertRule",
}

// resourceKind returns the kind that the audit trail records for an operation.
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
