package cli

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) eventCommand() *cobra.Command {
	return group("event", "The audit trail: who did what", []string{"events"}, p.eventList())
}

// eventFilters are the filters of the audit trail.
type eventFilters struct {
	subject, operation, kind, name, outcome string
	since, until                            moment
}

func (p *program) eventList() *cobra.Command {
	f := eventFilters{since: moment{now: p.now}, until: moment{now: p.now}}
	return listVerb(p, eventView(),
		`Lists the audit trail of the project, newest first: every change, and every attempt to make one without the right to. With
-o yaml what changed, before and after. Filters add up. The creation and the deletion of projects are in the trail of the
project 'platform'.

This is what people and programs did. Whether the data is right is another question: 'ipamctl audit' checks its invariants.`,
		p.inProject,
		func(cmd *cobra.Command) {
			flags := cmd.Flags()
			flags.StringVar(&f.subject, "subject", "", "only what this `SUBJECT` did, like corp:alice@example.com or key:team-a/pipeline")
			flags.StringVar(&f.operation, "operation", "", "only this `OPERATION` of the API, like deleteClaim")
			flags.StringVar(&f.kind, "kind", "", "only events about this `KIND`, like IPClaim")
			flags.StringVar(&f.name, "name", "", "only events about things of this `NAME`")
			flags.StringVar(&f.outcome, "outcome", "", "only this `OUTCOME`: ok, or the code of a refusal, like permission_denied")
			flags.Var(&f.since, "since", "only events at this time or later: 2026-03-03T12:00:00Z, or how long ago: 90m, 3d")
			flags.Var(&f.until, "until", "only events before this time, or this long ago")
			completeWords(cmd, "outcome", []string{"ok", "permission_denied", "not_found"})
			completeWords(cmd, "kind", []string{"Project", "Space", "IPPool", "IPClass", "IPClaim", "IPAllocation", "Member", "ApiKey", "PoolGrant", "SpaceGrant", "Quota"})
		},
		func(s *session) (fetch, error) { return s.fetchEvents(&f), nil })
}

func (s *session) fetchEvents(f *eventFilters) fetch {
	return func(ctx context.Context, ask asking) (*http.Response, error) {
		return s.api.ListAuditEvents(ctx, s.project, &client.ListAuditEventsParams{
			Subject:      optional[client.SubjectFilter](f.subject),
			Operation:    optional[client.OperationFilter](f.operation),
			ResourceKind: optional[client.ResourceKindFilter](f.kind),
			ResourceName: optional[client.ResourceNameFilter](f.name),
			Outcome:      optional[client.OutcomeFilter](f.outcome),
			Since:        f.since.at,
			Until:        f.until.at,
			Limit:        ask.limit,
			Cursor:       ask.cursor,
			Consistency:  ask.consistency,
		})
	}
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
