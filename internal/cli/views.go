package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Columns that every kind has; of is its metadata.
func metaColumns[T any](of func(T) client.Metadata) []column[T] {
	return []column[T]{
		{title: "LABELS", wide: true, cell: func(t T) string { return joinPairs(of(t).Labels) }},
		{title: "CREATED", wide: true, cell: func(t T) string { return of(t).CreatedAt.UTC().Format(time.RFC3339) }},
		{title: "CREATED BY", wide: true, cell: func(t T) string { return of(t).CreatedBy }},
		{title: "UID", wide: true, cell: func(t T) string { return of(t).UID }},
	}
}

// Columns of what has no labels: a member, a grant.
func plainColumns[T any](of func(T) client.PlainMetadata) []column[T] {
	return []column[T]{
		{title: "CREATED", wide: true, cell: func(t T) string { at := of(t).CreatedAt; return timeText(&at) }},
		{title: "CREATED BY", wide: true, cell: func(t T) string { return of(t).CreatedBy }},
		{title: "UID", wide: true, cell: func(t T) string { return of(t).UID }},
	}
}

func allocationView() view[client.IPAllocation] {
	type T = client.IPAllocation
	return view[T]{
		kind: "allocation",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "CIDR", cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{title: "POOL", cell: func(t T) string { return refText(&t.Spec.PoolRef, t.Metadata.Project) }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "PURPOSE", cell: func(t T) string { return string(t.Spec.Purpose) }},
			{title: "CLASS", cell: func(t T) string { return classText(t.Spec.ClassProject, t.Spec.ClassName, t.Metadata.Project) }},
			{title: "FOR", cell: allocatedFor},
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "RECLAIM", wide: true, cell: func(t T) string { return string(t.Spec.ReclaimPolicy) }},
			{title: "OWNER", wide: true, cell: func(t T) string { return ownerText(t.Spec.OwnerRef) }},
			{title: "REGION", wide: true, cell: func(t T) string { return t.Metadata.Region }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// allocatedFor is what a block is held for: a claim, a child pool, or the reason of a reservation; or until when nobody gets it.
func allocatedFor(a client.IPAllocation) string {
	if a.Status.Phase == client.IPAllocationPhaseCoolingDown {
		return "nobody until " + timeText(a.Status.CoolUntil)
	}
	switch a.Spec.Purpose {
	case client.IPAllocationPurposeChildPool:
		return refText(a.Spec.ChildPoolRef, a.Metadata.Project)
	case client.IPAllocationPurposeReservation:
		return a.Spec.Reason
	case client.IPAllocationPurposeClaim:
		if a.Spec.ClaimRef == nil {
			return foreignClaim(a.Spec.Consumer)
		}
		return refText(a.Spec.ClaimRef, a.Metadata.Project)
	default:
		return ""
	}
}

// foreignClaim is what an owner sees of a claim of another project.
func foreignClaim(consumer string) string { return "a claim of " + consumer }

// classText names the class that served something, or nothing where none did.
func classText(project, name, from string) string {
	if name == "" {
		return ""
	}
	return refText(&client.ResolvedRef{Project: project, Name: name}, from)
}

// poolScopeText is whom a pool was carved for: "clusters of team-a: cluster=web-eu".
func poolScopeText(s *client.PoolScope) string {
	if s == nil {
		return ""
	}
	text := s.ClassProject + "/" + s.ClassName + " of " + s.Project
	if len(s.Values) > 0 {
		text += ": " + joinPairs(s.Values)
	}
	return text
}

// refText names a resource as seen from a project: `name`, or `project/name` where that is another one.
func refText(ref *client.ResolvedRef, from string) string {
	switch {
	case ref == nil:
		return ""
	case ref.Project == from:
		return ref.Name
	default:
		return ref.Project + "/" + ref.Name
	}
}

func strategyText(a *client.PoolAllocation) string {
	if a == nil {
		return ""
	}
	return string(a.Strategy)
}

// boundsText is what lengths a pool hands out: "/18../28 (/24)", the default in brackets, or "any (/24)".
func boundsText(a *client.PoolAllocation) string {
	if a == nil || a.MinPrefixLength == nil && a.MaxPrefixLength == nil && a.DefaultPrefixLength == nil {
		return ""
	}
	text := "any"
	if a.MinPrefixLength != nil || a.MaxPrefixLength != nil {
		text = slashed(a.MinPrefixLength) + ".." + slashed(a.MaxPrefixLength)
	}
	if a.DefaultPrefixLength != nil {
		text += fmt.Sprintf(" (%s)", slashed(a.DefaultPrefixLength))
	}
	return text
}

// reservationsText is what a pool withholds, as --reserve takes it.
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

// ownerText is an owner as --owner takes it.
func ownerText(o *client.OwnerRef) string {
	if o == nil {
		return ""
	}
	return strings.TrimRight(o.Kind+"/"+o.Name+"/"+o.UID, "/")
}

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }

// joinPairs shows labels in a fixed order.
func joinPairs(m map[string]string) string {
	out := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+"="+m[key])
	}
	return strings.Join(out, ",")
}
