package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

func classShow(p *session.Program, complete verbs.Completion) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME...",
		Short: "Show classes by name: their policies, their usage, and the pools behind them",
		Long: `Shows the classes that these names mean in claims of the project: its own classes, or else the shared ones of 'platform'. Below a
class, it lists the project's pools that list the class or belong to its scopes. Use -p for the pools of another project.

-o json and yaml print the server's document of the class, without the pools.`,
		Aliases:           []string{"get", "describe"},
		Args:              verbs.Refs("class", 1, -1),
		ValidArgsFunction: complete,
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			things, err := verbs.Resources(p, p.InProject, args)
			if err != nil {
				return err
			}
			docs := make([]json.RawMessage, len(things))
			for i := range things {
				if docs[i], err = class(ctx, &things[i]); err != nil {
					return err
				}
			}
			if p.Quiet || p.Output != show.FormatTable {
				return show.SomeOf(p.Printer, classView(), docs, len(docs))
			}
			return describeClasses(ctx, p, things, docs)
		}),
	}
}

// class reads a class. A tenant may not read the platform project. For a platform class, it therefore reads the class through the caller's own
// project first. That works unless the project has its own class with that name. The result is the class as the project sees it.
func class(ctx context.Context, t *verbs.Resource) (json.RawMessage, error) {
	get := func(s *session.Session) (json.RawMessage, error) {
		a, err := s.Ask(ctx, session.Get(s.In("classes", t.Name)...))
		return a.Body, err
	}
	if home := t.At.Project; t.Project == ipam.PlatformProject && home != ipam.PlatformProject && session.NameRE.MatchString(home) {
		own := *t.Session
		own.Project = home
		doc, err := get(&own)
		if err == nil {
			found, err := show.Decode[client.IPClass]([]json.RawMessage{doc})
			if err != nil {
				return nil, err
			}
			if found[0].Metadata.Project == ipam.PlatformProject {
				t.Session = &own
				return doc, nil
			}
		}
	}
	return get(t.Session)
}

// describeClasses prints a paragraph for each class. It includes the pools of the class in the caller's project.
func describeClasses(ctx context.Context, p *session.Program, things []verbs.Resource, docs []json.RawMessage) error {
	classes, err := show.Decode[client.IPClass](docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, c := range classes {
		if i > 0 {
			all.WriteByte('\n')
		}
		s := things[i].Session
		all.Write(describe(c))
		if c.Status.BackingPools == 0 {
			continue
		}
		pools, _, err := Pools(p).Every(ctx, s, session.Query{}.With("class", c.Metadata.Name))
		if err != nil {
			return err
		}
		carved := slices.IndexFunc(pools, isCarved) >= 0
		if len(pools) > 0 {
			all.WriteByte('\n')
			all.Write(show.Table(p.Printer, backingColumns(carved), pools))
		}
		listing := slices.DeleteFunc(pools, isCarved)
		if elsewhere := c.Status.BackingPools - int64(len(listing)); elsewhere > 0 && c.Metadata.Project != s.Project {
			fmt.Fprintf(&all, "\nPools of %s behind it: %d\n", show.Clean(c.Metadata.Project), elsewhere)
		}
	}
	return p.Write(all.Bytes())
}

// describe returns the fields of a class, one field a line.
func describe(c client.IPClass) []byte {
	lines := []show.Line{
		{"class", c.Metadata.Project + "/" + c.Metadata.Name},
		{"description", c.Spec.Description},
		{"family", string(c.Spec.IPFamily)},
		{"serves", servedText(c)},
		{"lengths", classLengths(c)},
		{"placed by", show.FirstOf(string(c.Spec.Strategy), "the pool's strategy") + ", pools in order of " + string(c.Spec.PoolSelection)},
		{"when released", releasedText(c.Spec)},
		{"pool per", poolPerText(c)},
		{"pools", poolCount(c)},
		{"full", classBar(c)},
		{"available", availableText(c.Status.Capacity)},
		{"largest", show.FirstOf(show.PrefixLengthText(c.Status.LargestPrefixLength), "none")},
		{"parameters", show.JoinPairs(c.Spec.Parameters)},
		{"labels", show.JoinPairs(c.Metadata.Labels)},
	}
	for _, condition := range c.Status.Conditions {
		lines = append(lines, show.Line{strings.ToLower(condition.Type), string(condition.Status) + ": " + condition.Message})
	}
	return show.Paragraph(lines)
}

// isCarved reports whether a pool was carved for a scope of a class. All other pools of a class list the class in their spec.
func isCarved(p client.IPPool) bool { return p.Status.Scope != nil }

// backingColumns returns the columns for the pools of a class. If some of the pools were carved for a scope, there is a column for the scope.
func backingColumns(carved bool) []show.Column[client.IPPool] {
	type T = client.IPPool
	columns := []show.Column[T]{
		{Title: "POOL", Cell: func(t T) string { return t.Metadata.Name }},
		{Title: "CIDR", Cell: func(t T) string { return t.Status.AllocatedCIDR }},
		{Title: "FULL", Cell: func(t T) string { return takenBar(t.Status.Capacity.Total, t.Status.Capacity.Available) }},
		{Title: "AVAILABLE", Cell: func(t T) string { return t.Status.Capacity.Available }},
		{Title: "COOLING DOWN", Cell: func(t T) string { return t.Status.Capacity.CoolingDown }},
		{Title: "LARGEST FREE", Cell: func(t T) string { return show.PrefixLengthText(t.Status.LargestFreePrefixLength) }},
	}
	if carved {
		columns = append(columns, show.Column[T]{Title: "FOR SCOPE", Cell: func(t T) string {
			if t.Status.Scope == nil {
				return ""
			}
			return strings.TrimRight(t.Status.Scope.Project+" "+show.JoinPairs(t.Status.Scope.Values), " ")
		}})
	}
	return columns
}

// servedText describes the claims that a class serves. It mentions whether they include claims that name no class.
func servedText(c client.IPClass) string {
	text := "claims of " + c.Metadata.Project
	if c.Spec.Visibility == client.ClassVisibilityShared {
		text = "claims of every project"
	}
	if IsDefault(c) {
		text += ", and claims without a class"
	}
	return text
}

func releasedText(s client.IPClassSpec) string {
	switch {
	case s.ReclaimPolicy == client.ReclaimPolicyRetain:
		return "kept by its allocation (Retain)"
	case s.ReuseAfter == "":
		return "free after the pool's cool-down (Delete)"
	case verbs.SameSpan(s.ReuseAfter) == "0s":
		return "free at once (Delete)"
	default:
		return "free after " + s.ReuseAfter + " (Delete)"
	}
}

// classLengths describes the prefix lengths of a class in the same form as those of a pool.
func classLengths(c client.IPClass) string {
	bounds := client.PoolAllocation{DefaultPrefixLength: c.Spec.DefaultPrefixLength}
	if a := c.Spec.AllowedPrefixLengths; a != nil {
		bounds.MinPrefixLength, bounds.MaxPrefixLength = a.Min, a.Max
	}
	return boundsText(&bounds)
}

// poolPerText describes the claims that share a pool, for example "project,cluster: a /20, deleted when empty for 48h".
func poolPerText(c client.IPClass) string {
	if len(c.Spec.PoolPer) == 0 {
		return ""
	}
	text := strings.Join(c.Spec.PoolPer, ",") + ": a " + show.PrefixLengthText(c.Spec.PoolPrefixLength)
	if c.Spec.EmptyPoolTTL != "" {
		text += ", deleted when empty for " + c.Spec.EmptyPoolTTL
	}
	return text
}

// poolCount returns the number of pools that list a class, and the number of pools that were carved for its scopes.
func poolCount(c client.IPClass) string {
	text := strconv.FormatInt(c.Status.BackingPools, 10)
	if c.Status.ScopedPools > 0 {
		text += " (" + strconv.FormatInt(c.Status.ScopedPools, 10) + " carved)"
	}
	return text
}

func availableText(c client.ClassCapacity) string {
	return c.Available + " of " + c.Total + " addresses"
}

func classBar(c client.IPClass) string {
	return takenBar(c.Status.Capacity.Total, c.Status.Capacity.Available)
}

// takenBar draws the exact share of addresses that are not available. If the total is 0, it returns "".
func takenBar(total, available string) string {
	t, okT := new(big.Int).SetString(total, 10)
	a, okA := new(big.Int).SetString(available, 10)
	if !okT || !okA || t.Sign() == 0 {
		return ""
	}
	return bar(new(big.Int).Sub(t, a).String(), total)
}
