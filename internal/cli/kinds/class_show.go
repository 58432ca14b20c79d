package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
			resources, err := verbs.Resources(p, p.InProject, args)
			if err != nil {
				return err
			}
			docs := make([]json.RawMessage, len(resources))
			for i := range resources {
				if docs[i], err = class(ctx, &resources[i]); err != nil {
					return err
				}
			}
			if p.Quiet || p.Output != show.FormatTable {
				return show.OneOrList(p.Printer, classView(), docs, len(docs))
			}
			return describeClasses(ctx, p, resources, docs)
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
		if doc, err := get(&own); err == nil {
			found, err := show.Read[client.IPClass](doc)
			if err != nil {
				return nil, err
			}
			if found.Metadata.Project == ipam.PlatformProject {
				t.Session = &own
				return doc, nil
			}
		}
	}
	return get(t.Session)
}

// describeClasses prints a paragraph for each class, with the class's pools in the caller's project.
func describeClasses(ctx context.Context, p *session.Program, resources []verbs.Resource, docs []json.RawMessage) error {
	classes, err := show.Decode[client.IPClass](docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, c := range classes {
		if i > 0 {
			all.WriteByte('\n')
		}
		s := resources[i].Session
		lines := show.LinesOf(show.Columns(classLines, classCells), c)
		for _, condition := range c.Status.Conditions {
			lines = append(lines, show.Line{strings.ToLower(condition.Type), string(condition.Status) + ": " + condition.Message})
		}
		all.Write(show.Paragraph(lines))
		if c.Status.BackingPools == 0 {
			continue
		}
		pools, _, err := verbs.Every[client.IPPool](ctx, pools(p), s, session.Query{}.With("class", c.Metadata.Name))
		if err != nil {
			return err
		}
		if len(pools) > 0 {
			all.WriteByte('\n')
			all.Write(show.Table(p.Printer, backingColumns(pools), pools))
		}
		listing := slices.DeleteFunc(pools, isCarved)
		if elsewhere := c.Status.BackingPools - int64(len(listing)); elsewhere > 0 && c.Metadata.Project != s.Project {
			fmt.Fprintf(&all, "\nPools of %s behind it: %d\n", show.Clean(c.Metadata.Project), elsewhere)
		}
	}
	return p.Write(all.Bytes())
}

// isCarved reports whether a pool was carved for a class's scope. All other pools list the class in their spec.
func isCarved(p client.IPPool) bool { return p.Status.Scope != nil }

// backingColumns returns the columns for a class's pools. If some pools were carved for a scope, there is a column for the scope.
func backingColumns(pools []client.IPPool) []show.Column {
	text := `
		POOL: metadata.name
		CIDR: status.allocatedCIDR
		FULL: full
		AVAILABLE: status.capacity.available
		COOLING DOWN: status.capacity.coolingDown
		LARGEST FREE: status.largestFreePrefixLength`
	if slices.ContainsFunc(pools, isCarved) {
		text += `
		FOR SCOPE: scope`
	}
	return show.Columns(text, show.Cells[client.IPPool]{
		"full": func(t client.IPPool) string { return takenBar(t.Status.Capacity.Total, t.Status.Capacity.Available) },
		"scope": func(t client.IPPool) string {
			if t.Status.Scope == nil {
				return ""
			}
			return show.Words(t.Status.Scope.Project, show.JoinPairs(t.Status.Scope.Values))
		},
	})
}
