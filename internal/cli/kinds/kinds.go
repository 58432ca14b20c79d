// Package kinds defines the commands for each kind in the API. A function describes each kind: it returns a verbs.Kind with the columns,
// the flags and the help texts. A new kind needs such a function, and a line in OfAddressSpace or OfAccess. Only special verbs have code.
package kinds

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
)

// OfAddressSpace returns the commands for address space. The parameter more has additional subcommands for `region` that work without a server.
func OfAddressSpace(p *session.Program, more ...*cobra.Command) []*cobra.Command {
	projects, spaces, classes, claims := projects(p), spaces(p), classes(p), claims(p)
	return []*cobra.Command{
		projects.Group(putVerb(projects, "", "  ipamctl project put team-a --display-name 'Team A'")),
		spaces.Group(putVerb(spaces, "", "  ipamctl space put lab --description 'Repeats addresses of production on purpose'")),
		poolCommand(p),
		classes.Group(
			putVerb(classes, " --family FAMILY", "  ipamctl class put standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default"),
			classShow(p, classes.Complete()), scopeGroup(p),
		),
		claims.Group(claimPut(claims), claimBatch(p), claimExplain(claims)),
		consumerCommand(p), releaseCommand(p), waitCommand(p), allocations(p).Group(), searchCommand(p), regionCommand(p, more...),
	}
}

// OfAccess returns the commands for access rights, quotas, webhooks, alerts and the audit trail.
func OfAccess(p *session.Program) []*cobra.Command {
	members, quotas := members(p), quotas(p)
	return []*cobra.Command{
		members.Group(memberSet(members)), keys(p).Group(), grantCommand(p), quotas.Group(quotaSet(quotas)), webhookCommand(p), alerts(p).Group(),
		alertRules(p).Group(), events(p).Group(), changesCommand(p), historyCommand(p),
	}
}

// plain and labelled are the last columns for kinds without and with labels.
const (
	plain = `
		CREATED: metadata.createdAt, wide
		CREATED BY: metadata.createdBy, wide
		UID: metadata.uid, wide`
	labelled = `
		LABELS: metadata.labels, wide` + plain
)
