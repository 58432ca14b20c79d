// Package verbs has the command-line code that all kinds share: the description of a kind, its verbs, flags, arguments and completion.
package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Kind describes one kind of object for its commands. It has the view, the path in the API, and the fields that have flags.
type Kind[T any] struct {
	show.View[T]
	Home
	P      *session.Program
	Args   cobra.PositionalArgs // of commands about existing objects; nil means names, or project/name
	Fields []Field
	Fed    *Fed[T] // nil if the change feed does not contain the kind
	// Nameless objects have generated names that nobody types. The shell does not propose these names.
	Nameless bool
	// Read reads one object. If it is nil, the kind uses a GET of the object's path.
	Read func(ctx context.Context, s *session.Session, name string) (session.Answer, error)
}

// Home is the location of a kind in the API.
type Home struct {
	Within func() (*session.Session, error)
	Path   func(s *session.Session) []string // returns the path of the list
	// inProject means that the objects of the kind belong to a project. The session then has the project.
	inProject bool
}

// HomeOf returns the location of a kind whose objects belong to a project.
func HomeOf(p *session.Program, collection string) Home {
	return Home{p.InProject, func(s *session.Session) []string { return s.In(collection) }, true}
}

// at returns the path of one object.
func (h Home) at(s *session.Session, name string) []string { return append(h.Path(s), name) }

// Fetch returns a function that reads the pages of a list.
func (h Home) Fetch(s *session.Session, filters session.Query) session.Fetch {
	return func(ctx context.Context, paging session.Query) (session.Answer, error) {
		return s.Ask(ctx, session.Request{Path: h.Path(s), Query: append(slices.Clip(filters), paging...)})
	}
}

// Every reads all objects of a kind in a project. It returns them decoded and as JSON.
func (k Kind[T]) Every(ctx context.Context, s *session.Session, filters session.Query) ([]T, []json.RawMessage, error) {
	l, err := s.Pages(ctx, session.Paging{}, k.Fetch(s, filters))
	if err != nil {
		return nil, nil, err
	}
	items, err := show.Decode[T](l.Items)
	return items, l.Items, err
}

// positional checks the arguments of a command about existing objects.
func (k Kind[T]) positional(most int) cobra.PositionalArgs {
	if k.Args == nil {
		return Refs(k.Kind, 1, most)
	}
	return k.Args
}

// Ask reads one object.
func (k Kind[T]) Ask(ctx context.Context, s *session.Session, name string) (session.Answer, error) {
	if k.Read != nil {
		return k.Read(ctx, s, name)
	}
	return s.Ask(ctx, session.Get(k.at(s, name)...))
}

// readEach reads the objects that the arguments name, one after the other. If there are several arguments, it reports each missing object and still
// returns all others. In that case, missing is the exit code of the command.
func (k Kind[T]) readEach(ctx context.Context, args []string) (docs []json.RawMessage, missing int, err error) {
	things, err := Resources(k.P, k.Within, args)
	if err != nil {
		return nil, exit.OK, err
	}
	for _, r := range things {
		a, err := k.Ask(ctx, r.Session, r.Name)
		switch {
		case err == nil:
			docs = append(docs, a.Body)
		case len(things) == 1 || exit.CodeOf(err) != exit.NotFound:
			return nil, exit.OK, err
		default:
			k.P.Note("error: %s %s: %s", k.Kind, r.said, err)
			missing = exit.NotFound
		}
	}
	return docs, missing, nil
}

// someOf returns the error of a command that showed only some of the objects that the user named.
func someOf(missing int, err error) error {
	if err == nil && missing != exit.OK {
		return exit.Verdict(missing)
	}
	return err
}

// GetVerb returns the command `get`, which takes one or more names.
func (k Kind[T]) GetVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "get NAME...",
		Short:             "Show " + show.Plural(k.Kind) + " by name",
		Args:              k.positional(-1),
		ValidArgsFunction: k.Complete(),
	}
	watch := k.addWatch(cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		switch {
		case *watch && len(args) > 1:
			return exit.Usagef("--watch works with one %s, or with a list: see '%s list --help'", k.Kind, cmd.Parent().CommandPath())
		case *watch:
			return k.watchOne(ctx, args)
		}
		docs, missing, err := k.readEach(ctx, args)
		if err != nil {
			return err
		}
		return someOf(missing, show.SomeOf(k.P.Printer, k.View, docs, len(args)))
	})
	return cmd
}

// ShowVerb returns the command `show`. It prints all fields of the objects that the arguments name, one field a line.
func (k Kind[T]) ShowVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME...",
		Short: "Show all fields of " + show.Plural(k.Kind) + " by name, one field a line",
		Long: "Shows the columns of 'get -o wide' for " + show.Plural(k.Kind) + ", and fields that are too long for a table, one field a line. With another\n" +
			"-o it is the same as 'get'.",
		Args:              k.positional(-1),
		ValidArgsFunction: k.Complete(),
		Aliases:           []string{"describe"},
		SuggestFor:        []string{"view"},
		RunE: k.P.Verb(func(ctx context.Context, args []string) error {
			docs, missing, err := k.readEach(ctx, args)
			if err != nil {
				return err
			}
			if k.P.Quiet || k.P.Output != show.FormatTable {
				return someOf(missing, show.SomeOf(k.P.Printer, k.View, docs, len(args)))
			}
			return someOf(missing, show.Paragraphs(k.P.Printer, k.View, docs))
		}),
	}
}

// ListVerb returns the command `list` with the filters of the kind.
func (k Kind[T]) ListVerb(long string, filters ...Filter) *cobra.Command {
	var l session.Paging
	cmd := Bare(&cobra.Command{Use: "list", Short: "List " + show.Plural(k.Kind), Long: long, Aliases: []string{"ls"}})
	watch, everywhere := k.addWatch(cmd), k.addEverywhere(cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, _ []string) error {
		q, err := filtered(cmd, filters)
		if err != nil {
			return err
		}
		if *everywhere {
			return k.listEverywhere(ctx, cmd, q)
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		if *watch {
			if err := k.watchable(cmd, filters); err != nil {
				return err
			}
			return k.watchList(ctx, s, q)
		}
		found, err := s.Pages(ctx, l, k.Fetch(s, q))
		if err != nil {
			return err
		}
		return show.List(k.P.Printer, k.View, found)
	})
	addFilters(k.P, cmd, filters)
	AddPaging(&l, cmd)
	cmd.Flags().StringVar(&k.P.SortBy, "sort-by", "", "sort by a `COLUMN` or a path such as .metadata.createdAt: blocks by address, numbers by size")
	return cmd
}

// Creation configures the command `create` of a kind.
type Creation struct {
	Check func(cmd *cobra.Command) error                                         // checks combinations of flags
	Query func(cmd *cobra.Command) session.Query                                 // returns parameters in addition to the parameters of every create
	Shown func(s *session.Session, doc json.RawMessage, w session.Writing) error // shows the result instead of the view
}

// CreateVerb returns the command `create`.
func (k Kind[T]) CreateVerb(cmd *cobra.Command, c Creation) *cobra.Command {
	var f creating
	cmd.Args, cmd.ValidArgsFunction = Names(k.Kind, 0, 1), cobra.NoFileCompletions
	fields := AddFields(k.P, cmd, k.Fields, false)
	f.add(cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		doc, err := f.metadata(k.Kind, args)
		if err != nil {
			return err
		}
		if err := checked(cmd, c.Check); err != nil {
			return err
		}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		var q session.Query
		if c.Query != nil {
			q = c.Query(cmd)
		}
		a, err := k.Create(ctx, s, f.Writing, q, doc)
		switch {
		case err != nil:
			return err
		case c.Shown != nil:
			return c.Shown(s, a.Body, f.Writing)
		}
		return show.One(k.P.Printer, k.View, a.Body)
	})
	return cmd
}

// Create creates an object from a document.
func (k Kind[T]) Create(ctx context.Context, s *session.Session, w session.Writing, q session.Query, doc any) (session.Answer, error) {
	body, err := show.Marshal(doc)
	if err != nil {
		return session.Answer{}, err
	}
	return s.Post(ctx, w, session.Request{Path: k.Path(s), Query: q, Body: body})
}

// SetVerb returns the command `set`. It sends a merge patch for one object and shows the result.
func (k Kind[T]) SetVerb(cmd *cobra.Command, c Creation) *cobra.Command {
	var f Replacing
	cmd.Args, cmd.ValidArgsFunction, cmd.SuggestFor = k.positional(1), k.Complete(), []string{"update", "edit", "patch", "change", "label"}
	fields := AddFields(k.P, cmd, k.Fields, true)
	f.Add(cmd, "change only")
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		if err := checked(cmd, c.Check); err != nil {
			return err
		}
		doc := map[string]any{}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		if len(doc) == 0 {
			return exit.Usagef("nothing to set: '%s --help' lists the fields", cmd.CommandPath())
		}
		body, err := show.Marshal(doc)
		if err != nil {
			return err
		}
		r, err := Resources(k.P, k.Within, args)
		if err != nil {
			return err
		}
		var q session.Query
		if c.Query != nil {
			q = c.Query(cmd)
		}
		a, err := r[0].Change(ctx, session.Request{
			Method: http.MethodPatch, Path: k.at(r[0].Session, r[0].Name), Query: append(q, f.Query()...), Match: show.FirstOf(f.IfMatch, "*"), Body: body,
		}, k.Kind+" was changed")
		if err != nil {
			return err
		}
		return show.One(k.P.Printer, k.View, a.Body)
	})
	return cmd
}

// checked calls the check of the flags, if there is one.
func checked(cmd *cobra.Command, check func(cmd *cobra.Command) error) error {
	if check == nil {
		return nil
	}
	return check(cmd)
}

// Put replaces an object with a document.
func (k Kind[T]) Put(ctx context.Context, s *session.Session, name string, w Replacing, doc any, done string) (session.Answer, error) {
	body, err := show.Marshal(doc)
	if err != nil || bytes.Equal(body, []byte("null")) {
		body = nil // the path contains all values
	}
	if err != nil {
		return session.Answer{}, err
	}
	return s.Change(ctx, session.Request{Method: http.MethodPut, Path: k.at(s, name), Query: w.Query(), Match: w.IfMatch, Create: w.Create, Body: body}, done)
}
