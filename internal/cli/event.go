package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) eventCommand() *cobra.Command {
	k := kind[client.AuditEvent]{p: p, view: eventView(), home: p.homeOf("audit-events")}
	at := func(string, bool) value { return &moment{now: p.now} }
	list := k.listVerb(`Lists the audit trail of the project, newest first: every change, and every attempt to make one without the right to. With
-o yaml what changed, before and after. Filters add up. The creation and the deletion of projects are in the trail of the
project 'platform'.

This is what people and programs did. Whether the data is right is another question: 'ipamctl audit' checks its invariants.`,
		filter{"subject", "subject", "only what this `SUBJECT` did, like corp:alice@example.com or key:team-a/pipeline", text, nil},
		filter{"operation", "operation", "only this `OPERATION` of the API, like deleteClaim", text, nil},
		filter{"kind", "resourceKind", "only events about this `KIND`, like IPClaim", text, nil},
		filter{"name", "resourceName", "only events about things of this `NAME`", text, nil},
		filter{"outcome", "outcome", "only this `OUTCOME`: ok, or the code of a refusal, like permission_denied", text, nil},
		filter{"since", "since", "only events at this time or later: 2026-03-03T12:00:00Z, or how long ago: 90m, 3d", at, nil},
		filter{"until", "until", "only events before this time, or this long ago", at, nil})
	completeWords(list, "outcome", []string{"ok", "permission_denied", "not_found"})
	completeWords(list, "kind", []string{"Project", "Space", "IPPool", "IPClass", "IPClaim", "IPAllocation", "Member", "ApiKey", "PoolGrant", "SpaceGrant", "Quota"})
	return group("event", "The audit trail: who did what", []string{"events"}, list)
}

func eventView() view[client.AuditEvent] {
	type T = client.AuditEvent
	return view[T]{
		kind: "event",
		name: func(t T) string { return t.ID },
		columns: []column[T]{
			{title: "TIME", cell: func(t T) string { return t.At.UTC().Format(time.RFC3339) }},
			{title: "SUBJECT", cell: func(t T) string { return t.Subject }},
			{title: "OPERATION", cell: func(t T) string { return t.Operation }},
			{title: "RESOURCE", cell: resourceText},
			{title: "OUTCOME", cell: func(t T) string { return t.Outcome }},
			{title: "METHOD", wide: true, cell: func(t T) string { return t.Method }},
			{title: "FROM", wide: true, cell: func(t T) string { return t.RemoteAddress }},
			{title: "REQUEST", wide: true, cell: func(t T) string { return t.RequestID }},
			{title: "ID", wide: true, cell: func(t T) string { return t.ID }},
		},
	}
}

func resourceText(e client.AuditEvent) string {
	if e.Resource.Name == "" {
		return e.Resource.Kind
	}
	return e.Resource.Kind + " " + e.Resource.Name
}

// now is the time of day. Commands are built before a command line has a clock, so it is looked for when it is asked.
func (p *program) now() time.Time { return p.Now() }
