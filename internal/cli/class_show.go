package cli

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
	"github.com/carve-ipam/carve/internal/ipam"
)

func (p *program) classShow(complete completion) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME...",
		Short: "Show classes by name: what they hand out, how full they are, and the pools behind them",
		Long: `Shows the classes that claims of the project find by these names: its own, or else the shared ones of 'platform'. Below it stand
the pools of the project that list the class or were carved for its scopes; those of another project are shown there (-p).

-o json and yaml have the class as the server described it, without the pools.`,
		Aliases:           []string{"get"},
		Args:              refs("class", 1, -1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			things, err := p.resources(p.inProject, args)
			if err != nil {
				return err
			}
			docs := make([]json.RawMessage, len(things))
			for i := range things {
				if docs[i], err = things[i].class(ctx); err != nil {
					return err
				}
			}
			if p.flags.quiet || p.flags.output != formatTable {
				return several(p, classView(), docs)
			}
			return p.describeClasses(ctx, things, docs)
		}),
	}
}

// class asks for a class. One of the platform is asked for from the caller's own project first, where it is found if nothing of that name
// hides it: a tenant may not look into the platform. What was found there is shown as the project sees it.
func (t *resource) class(ctx context.Context) (json.RawMessage, error) {
	get := func(s *session) (json.RawMessage, error) {
		a, err := s.ask(ctx, get(s.in("classes", t.name)...))
		return a.body, err
	}
	if home := t.at.project; t.project == ipam.PlatformProject && home != ipam.PlatformProject && nameRE.MatchString(home) {
		own := *t.session
		own.project = home
		doc, err := get(&own)
		if err == nil {
			found, err := decode[client.IPClass]([]json.RawMessage{doc})
			if err != nil {
				return nil, err
			}
			if found[0].Metadata.Project == ipam.PlatformProject {
				t.session = &own
				return doc, nil
			}
		}
	}
	return get(t.session)
}

// describeClasses prints a paragraph for each class, with the pools behind it of the project that asked.
func (p *program) describeClasses(ctx context.Context, things []resource, docs []json.RawMessage) error {
	classes, err := decode[client.IPClass](docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, c := range classes {
		if i > 0 {
			all.WriteByte('\n')
		}
		s := things[i].session
		all.Write(describe(c))
		if c.Status.BackingPools == 0 {
			continue
		}
		pools, _, err := p.pools().every(ctx, s, query{}.with("class", c.Metadata.Name))
		if err != nil {
			return err
		}
		carved := slices.IndexFunc(pools, isCarved) >= 0
		if len(pools) > 0 {
			all.WriteByte('\n')
			all.Write(tableOf(p, backingColumns(carved), pools))
		}
		listing := slices.DeleteFunc(pools, isCarved)
		if elsewhere := c.Status.BackingPools - int64(len(listing)); elsewhere > 0 && c.Metadata.Project != s.project {
			fmt.Fprintf(&all, "\nPools of %s behind it: %d\n", clean(c.Metadata.Project), elsewhere)
		}
	}
	return p.write(all.Bytes())
}

// describe is what a class is, one thing a line.
func describe(c client.IPClass) []byte {
	lines := []line{
		{"class", c.Metadata.Project + "/" + c.Metadata.Name},
		{"description", c.Spec.Description},
		{"family", string(c.Spec.IPFamily)},
		{"serves", servedText(c)},
		{"lengths", classLengths(c)},
		{"placed by", firstOf(string(c.Spec.Strategy), "the strategy of the pool") + ", pools in order of " + string(c.Spec.PoolSelection)},
		{"when released", releasedText(c.Spec)},
		{"pool per", poolPerText(c)},
		{"pools", poolCount(c)},
		{"full", classBar(c)},
		{"available", availableText(c.Status.Capacity)},
		{"largest", firstOf(slashed(c.Status.LargestPrefixLength), "none")},
		{"parameters", joinPairs(c.Spec.Parameters)},
		{"labels", joinPairs(c.Metadata.Labels)},
	}
	for _, condition := range c.Status.Conditions {
		lines = append(lines, line{strings.ToLower(condition.Type), string(condition.Status) + ": " + condition.Message})
	}
	return paragraph(lines)
}

// isCarved tells the pools that were carved for scopes of a class from those that list it.
func isCarved(p client.IPPool) bool { return p.Status.Scope != nil }

// backingColumns are what matters of a pool behind a class, with the scopes where some were carved for one.
func backingColumns(carved bool) []column[client.IPPool] {
	type T = client.IPPool
	columns := []column[T]{
		{title: "POOL", cell: func(t T) string { return t.Metadata.Name }},
		{title: "CIDR", cell: func(t T) string { return t.Status.AllocatedCIDR }},
		{title: "FULL", cell: func(t T) string { return takenBar(t.Status.Capacity.Total, t.Status.Capacity.Available) }},
		{title: "AVAILABLE", cell: func(t T) string { return t.Status.Capacity.Available }},
		{title: "COOLING DOWN", cell: func(t T) string { return t.Status.Capacity.CoolingDown }},
		{title: "LARGEST FREE", cell: func(t T) string { return slashed(t.Status.LargestFreePrefixLength) }},
	}
	if carved {
		columns = append(columns, column[T]{title: "FOR SCOPE", cell: func(t T) string {
			if t.Status.Scope == nil {
				return ""
			}
			return strings.TrimRight(t.Status.Scope.Project+" "+joinPairs(t.Status.Scope.Values), " ")
		}})
	}
	return columns
}

// servedText is who is served: whose claims, and whether also those that name nothing.
func servedText(c client.IPClass) string {
	text := "claims of " + c.Metadata.Project
	if c.Spec.Visibility == client.ClassVisibilityShared {
		text = "claims of every project"
	}
	if isDefault(c) {
		text += ", and those that name nothing"
	}
	return text
}

func releasedText(s client.IPClassSpec) string {
	switch {
	case s.ReclaimPolicy == client.ReclaimPolicyRetain:
		return "kept by its allocation (Retain)"
	case s.ReuseAfter == "":
		return "free as the pool says (Delete)"
	case sameSpan(s.ReuseAfter) == "0s":
		return "free at once (Delete)"
	default:
		return "free after " + s.ReuseAfter + " (Delete)"
	}
}

// classLengths is what lengths a class hands out, as a pool shows them.
func classLengths(c client.IPClass) string {
	bounds := client.PoolAllocation{DefaultPrefixLength: c.Spec.DefaultPrefixLength}
	if a := c.Spec.AllowedPrefixLengths; a != nil {
		bounds.MinPrefixLength, bounds.MaxPrefixLength = a.Min, a.Max
	}
	return boundsText(&bounds)
}

// poolPerText is whose claims have a pool of their own: "project,cluster: a /20, deleted when empty for 48h".
func poolPerText(c client.IPClass) string {
	if len(c.Spec.PoolPer) == 0 {
		return ""
	}
	text := strings.Join(c.Spec.PoolPer, ",") + ": a " + slashed(c.Spec.PoolPrefixLength)
	if c.Spec.EmptyPoolTTL != "" {
		text += ", deleted when empty for " + c.Spec.EmptyPoolTTL
	}
	return text
}

// poolCount is how many pools list a class, and how many were carved for its scopes.
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

// takenBar draws how much is not available, exactly. Empty where nothing is there to be taken.
func takenBar(total, available string) string {
	t, okT := new(big.Int).SetString(total, 10)
	a, okA := new(big.Int).SetString(available, 10)
	if !okT || !okA || t.Sign() == 0 {
		return ""
	}
	return bar(new(big.Int).Sub(t, a).String(), total)
}
