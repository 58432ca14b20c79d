// Package kinds defines the commands for each kind of object in the API.
package kinds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// OfAddressSpace returns the commands for address space. more has additional subcommands of `region` that work without a server.
func OfAddressSpace(p *session.Program, more ...*cobra.Command) []*cobra.Command {
	return []*cobra.Command{
		projectCommand(p), spaceCommand(p), poolCommand(p), classCommand(p), claimCommand(p), consumerCommand(p), releaseCommand(p), waitCommand(p),
		allocationCommand(p), searchCommand(p), regionCommand(p, more...),
	}
}

// OfAccess returns the commands for access rights, quotas, webhooks, alerts and the audit trail.
func OfAccess(p *session.Program) []*cobra.Command {
	return []*cobra.Command{memberCommand(p), keyCommand(p), grantCommand(p), quotaCommand(p), webhookCommand(p), alertCommand(p), alertRuleCommand(p), eventCommand(p), changesCommand(p), historyCommand(p)}
}

// metaColumns returns the columns that every kind has. The function of returns the metadata of an object.
func metaColumns[T any](of func(T) client.Metadata) []show.Column[T] {
	return []show.Column[T]{
		{Title: "LABELS", Wide: true, Cell: func(t T) string { return show.JoinPairs(of(t).Labels) }},
		{Title: "CREATED", Wide: true, Cell: func(t T) string { return of(t).CreatedAt.UTC().Format(time.RFC3339) }},
		{Title: "CREATED BY", Wide: true, Cell: func(t T) string { return of(t).CreatedBy }},
		{Title: "UID", Wide: true, Cell: func(t T) string { return of(t).UID }},
	}
}

// plainColumns returns the columns of the kinds without labels, which are members and grants.
func plainColumns[T any](of func(T) client.PlainMetadata) []show.Column[T] {
	return []show.Column[T]{
		{Title: "CREATED", Wide: true, Cell: func(t T) string { at := of(t).CreatedAt; return show.TimeText(&at) }},
		{Title: "CREATED BY", Wide: true, Cell: func(t T) string { return of(t).CreatedBy }},
		{Title: "UID", Wide: true, Cell: func(t T) string { return of(t).UID }},
	}
}

func allocationView() show.View[client.IPAllocation] {
	type T = client.IPAllocation
	return show.View[T]{
		Kind: "allocation",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "CIDR", Cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{Title: "POOL", Cell: func(t T) string { return show.RefText(&t.Spec.PoolRef, t.Metadata.Project) }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "PURPOSE", Cell: func(t T) string { return string(t.Spec.Purpose) }},
			{Title: "CLASS", Cell: func(t T) string { return classText(t.Spec.ClassProject, t.Spec.ClassName, t.Metadata.Project) }},
			{Title: "FOR", Cell: allocatedFor},
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "RECLAIM", Wide: true, Cell: func(t T) string { return string(t.Spec.ReclaimPolicy) }},
			{Title: "OWNER", Wide: true, Cell: func(t T) string { return ownerText(t.Spec.OwnerRef) }},
			{Title: "REGION", Wide: true, Cell: func(t T) string { return t.Metadata.Region }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// allocatedFor describes the holder of a block. The holder is a claim or a child pool. For a reservation, the text is its reason. For a block in
// cool-down, the text has the end of the cool-down.
func allocatedFor(a client.IPAllocation) string {
	if a.Status.Phase == client.IPAllocationPhaseCoolingDown {
		return "unused until " + show.TimeText(a.Status.CoolUntil)
	}
	switch a.Spec.Purpose {
	case client.IPAllocationPurposeChildPool:
		return show.RefText(a.Spec.ChildPoolRef, a.Metadata.Project)
	case client.IPAllocationPurposeReservation:
		return a.Spec.Reason
	case client.IPAllocationPurposeClaim:
		if a.Spec.ClaimRef == nil {
			return foreignClaim(a.Spec.Consumer)
		}
		return show.RefText(a.Spec.ClaimRef, a.Metadata.Project)
	default:
		return ""
	}
}

// foreignClaim describes another project's claim for the owner of the pool. The owner sees the project but not the claim's name.
func foreignClaim(consumer string) string { return "a claim of " + consumer }

// classText names the class that served an object. If no class served it, classText returns "".
func classText(project, name, from string) string {
	if name == "" {
		return ""
	}
	return show.RefText(&client.ResolvedRef{Project: project, Name: name}, from)
}

// poolScopeText describes the scope that a pool was carved for, such as "platform/clusters of team-a: cluster=web-eu".
func poolScopeText(s *client.PoolScope) string {
	if s == nil {
		return ""
	}
	text := s.ClassProject + "/" + s.ClassName + " of " + s.Project
	if len(s.Values) > 0 {
		text += ": " + show.JoinPairs(s.Values)
	}
	return text
}

func strategyText(a *client.PoolAllocation) string {
	if a == nil {
		return ""
	}
	return string(a.Strategy)
}

// boundsText describes the prefix lengths of a pool, such as "/18../28 (/24)" or "any (/24)". The length in parentheses is the default.
func boundsText(a *client.PoolAllocation) string {
	if a == nil || a.MinPrefixLength == nil && a.MaxPrefixLength == nil && a.DefaultPrefixLength == nil {
		return ""
	}
	text := "any"
	if a.MinPrefixLength != nil || a.MaxPrefixLength != nil {
		text = show.PrefixLengthText(a.MinPrefixLength) + ".." + show.PrefixLengthText(a.MaxPrefixLength)
	}
	if a.DefaultPrefixLength != nil {
		text += fmt.Sprintf(" (%s)", show.PrefixLengthText(a.DefaultPrefixLength))
	}
	return text
}

// reservationsText lists the reservations of a pool in the form that --reserve takes.
func reservationsText(list []client.Reservation) string {
	out := make([]string, len(list))
	for i, r := range list {
		switch {
		case r.First != 0:
			out[i] = "first:" + strconv.Itoa(r.First)
		case r.Last != 0:
			out[i] = "last:" + strconv.Itoa(r.Last)
		case r.From != "":
			out[i] = r.From + "-" + r.To
		default:
			out[i] = r.CIDR
		}
		if r.Reason != "" {
			out[i] += "=" + r.Reason
		}
	}
	return strings.Join(out, "; ")
}

// ownerText returns an owner in the form that --owner takes.
func ownerText(o *client.OwnerRef) string {
	if o == nil {
		return ""
	}
	return strings.TrimRight(o.Kind+"/"+o.Name+"/"+o.UID, "/")
}
