package kinds

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func eventCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.AuditEvent]{P: p, View: eventView(), Home: verbs.HomeOf(p, "audit-events")}
	at := verbs.Moment(p.Clock)
	list := k.ListVerb(`Lists the audit trail of the project, newest first: every change, and every attempt without the necessary role. -o yaml shows
the values before and after a change. An event must match all filters. The trail of the project 'platform' has the creation and
the deletion of projects.

The trail records actions of people and programs. To check the data itself, use 'ipamctl audit'.`,
		verbs.By("subject", "subject", "only actions of this `SUBJECT`, like corp:alice@example.com or key:team-a/pipeline", verbs.Text),
		verbs.By("operation", "operation", "only this `OPERATION` of the API, like deleteClaim", verbs.Text),
		verbs.By("kind", "resourceKind", "only events about this `KIND`, like IPClaim", verbs.Text),
		verbs.By("name", "resourceName", "only events about objects with this `NAME`", verbs.Text),
		verbs.By("outcome", "outcome", "only this `OUTCOME`: ok, or the code of a refusal, like permission_denied", verbs.Text),
		verbs.By("since", "since", "only events at this time or later: 2026-03-03T12:00:00Z, or an age like 90m or 3d", at),
		verbs.By("until", "until", "only events before this time, or an age", at))
	verbs.CompleteWords(list, "outcome", []string{"ok", "permission_denied", "not_found"})
	verbs.CompleteWords(list, "kind", []string{"Project", "Space", "IPPool", "IPClass", "IPClaim", "IPAllocation", "Member", "ApiKey", "PoolGrant", "SpaceGrant", "Quota", "IPConsumer", "Realm"})
	return verbs.Group("event", "The audit trail: subjects and their actions", []string{"events"}, list)
}

func eventView() show.View[client.AuditEvent] {
	type T = client.AuditEvent
	return show.View[T]{
		Kind: "event",
		Name: func(t T) string { return t.ID },
		Columns: []show.Column[T]{
			{Title: "TIME", Cell: func(t T) string { return t.At.UTC().Format(time.RFC3339) }},
			{Title: "SUBJECT", Cell: func(t T) string { return t.Subject }},
			{Title: "OPERATION", Cell: func(t T) string { return t.Operation }},
			{Title: "RESOURCE", Cell: resourceText},
			{Title: "OUTCOME", Cell: func(t T) string { return t.Outcome }},
			{Title: "METHOD", Wide: true, Cell: func(t T) string { return t.Method }},
			{Title: "FROM", Wide: true, Cell: func(t T) string { return t.RemoteAddress }},
			{Title: "REQUEST", Wide: true, Cell: func(t T) string { return t.RequestID }},
			{Title: "ID", Wide: true, Cell: func(t T) string { return t.ID }},
		},
	}
}

func resourceText(e client.AuditEvent) string {
	if e.Resource.Name == "" {
		return e.Resource.Kind
	}
	return e.Resource.Kind + " " + e.Resource.Name
}
