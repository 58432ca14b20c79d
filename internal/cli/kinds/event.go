package kinds

import (
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func events(p *session.Program) verbs.Kind {
	type T = client.AuditEvent
	at := verbs.Moment(p.Clock)
	return verbs.Kind{
		P: p, In: "audit-events", Short: "The audit trail: subjects and their actions",
		View: show.ViewOf("event", `
			TIME: at
			SUBJECT: subject
			OPERATION: operation
			RESOURCE: resource
			OUTCOME: outcome
			METHOD: method, wide
			FROM: remoteAddress, wide
			REQUEST: requestId, wide
			ID: id, wide`, show.Cells[T]{
			"resource": func(t T) string { return show.Words(t.Resource.Kind, t.Resource.Name) },
		}),
		ListHelp: `Lists the audit trail of the project, newest first: every change, and every attempt without the necessary role. -o yaml shows
the values before and after a change. An event must match all filters. The trail of the project 'platform' has the creation and
the deletion of projects.

The trail records actions of people and programs. To check the data itself, use 'ipamctl audit'.`,
		Filters: []verbs.Field{
			{Flag: "subject", Usage: "only actions of this `SUBJECT`, like corp:alice@example.com or key:team-a/pipeline"},
			{Flag: "operation", Usage: "only this `OPERATION` of the API, like deleteClaim"},
			{
				Flag: "kind", Path: "resourceKind", Usage: "only events about this `KIND`, like IPClaim",
				Complete: words("Project Space IPPool IPClass IPClaim IPAllocation Member ApiKey PoolGrant SpaceGrant Quota IPConsumer Realm"),
			},
			{Flag: "name", Path: "resourceName", Usage: "only events about objects with this `NAME`"},
			{
				Flag: "outcome", Usage: "only this `OUTCOME`: ok, or the code of a refusal, like permission_denied",
				Complete: words("ok permission_denied not_found"),
			},
			{Flag: "since", Value: at, Usage: "only events at this time or later: 2026-03-03T12:00:00Z, or an age like 90m or 3d"},
			{Flag: "until", Value: at, Usage: "only events before this time, or an age"},
		},
	}
}

// words proposes the given words, but other words are valid too.
func words(list string) func(*session.Program) verbs.Completion {
	return func(*session.Program) verbs.Completion { return verbs.Proposing(strings.Fields(list)) }
}
