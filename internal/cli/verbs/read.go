package verbs

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// readEach reads the objects that the arguments name, one after the other, and shows them. If there are several arguments, it reports each missing
// object and still shows all others. In that case, the exit code is exit.NotFound.
func (k Kind) readEach(ctx context.Context, args []string, write func(docs []json.RawMessage) error) error {
	resources, err := Resources(k.P, k.Open, args)
	if err != nil {
		return err
	}
	var docs []json.RawMessage
	var missing error
	for _, r := range resources {
		a, err := k.Ask(ctx, r.Session, r.Name)
		switch {
		case err == nil:
			docs = append(docs, a.Body)
		case len(resources) == 1 || exit.CodeOf(err) != exit.NotFound:
			return err
		default:
			k.P.Note("error: %s %s: %s", k.Kind, r.argument, err)
			missing = exit.Verdict(exit.NotFound)
		}
	}
	if err := write(docs); err != nil {
		return err
	}
	return missing
}

// printer returns a function that prints the documents. The arguments name the objects.
func (k Kind) printer(args []string) func(docs []json.RawMessage) error {
	return func(docs []json.RawMessage) error { return show.OneOrList(k.P.Printer, k.View, docs, len(args)) }
}

// getVerb returns the command `get`, which takes one or more names.
func (k Kind) getVerb() *cobra.Command {
	cmd := k.Command(&cobra.Command{Use: k.use("get"), Short: "Show " + show.Plural(k.Kind) + " by name"})
	watch := k.addWatch(cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		switch {
		case *watch && len(args) > 1:
			return exit.Usagef("--watch works with one %s, or with a list: see '%s list --help'", k.Kind, cmd.Parent().CommandPath())
		case *watch:
			return k.watchOne(ctx, args)
		default:
			return k.readEach(ctx, args, k.printer(args))
		}
	})
	return cmd
}

// showVerb returns the command `show`. It prints each named object with all its fields, one field a line.
func (k Kind) showVerb() *cobra.Command {
	return k.Command(&cobra.Command{
		Use:   k.use("show"),
		Short: "Show all fields of " + show.Plural(k.Kind) + " by name, one field a line",
		Long: "Shows the columns of 'get -o wide' for " + show.Plural(k.Kind) + ", and fields that are too long for a table, one field a line. With another\n" +
			"-o it is the same as 'get'.",
		Aliases:    []string{"describe"},
		SuggestFor: []string{"view"},
		RunE: k.P.Verb(func(ctx context.Context, args []string) error {
			write := k.printer(args)
			if !k.P.Quiet && k.P.Output == show.FormatTable {
				write = func(docs []json.RawMessage) error { return show.Paragraphs(k.P.Printer, k.View, docs) }
			}
			return k.readEach(ctx, args, write)
		}),
	})
}

// listVerb returns the command `list` with the kind's filters.
func (k Kind) listVerb() *cobra.Command {
	var l session.Paging
	cmd := k.Command(Bare(&cobra.Command{Use: "list", Short: "List " + show.Plural(k.Kind), Long: k.ListHelp, Aliases: []string{"ls"}}))
	watch, everywhere := k.addWatch(cmd), k.addEverywhere(cmd)
	filters := addFields(k.P, cmd, nil, k.Filters, false)
	cmd.RunE = k.P.Verb(func(ctx context.Context, _ []string) error {
		q, err := filters.query()
		if err != nil {
			return err
		}
		if *everywhere {
			return k.listEverywhere(ctx, cmd, q)
		}
		s, err := k.Open()
		if err != nil {
			return err
		}
		if *watch {
			if err := k.watchable(cmd); err != nil {
				return err
			}
			return k.watchList(ctx, s, q)
		}
		return k.showPages(ctx, s, l, k.list(s), q)
	})
	AddPaging(&l, cmd)
	AddSorting(k.P, cmd)
	return cmd
}

// showPages reads a list's pages and shows them.
func (k Kind) showPages(ctx context.Context, s *session.Session, l session.Paging, path []string, q session.Query) error {
	page, err := s.Pages(ctx, l, s.Fetch(path, q))
	if err != nil {
		return err
	}
	return show.List(k.P.Printer, k.View, page)
}

// SubListVerb completes a command that lists objects in the path that the arguments select.
func (k Kind) SubListVerb(cmd *cobra.Command, of func(s *session.Session, args []string) (path []string, q session.Query)) *cobra.Command {
	var l session.Paging
	cmd.RunE = k.P.VerbIn(func(ctx context.Context, s *session.Session, args []string) error {
		path, q := of(s, args)
		return k.showPages(ctx, s, l, path, q)
	})
	AddPaging(&l, cmd)
	return cmd
}
