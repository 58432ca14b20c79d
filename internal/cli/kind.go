package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
)

// kind is everything that the verbs of one kind of thing have in common: how it is shown, where it is found, which of its
// fields are flags.
type kind[T any] struct {
	view[T]
	home
	p      *program
	args   cobra.PositionalArgs // of verbs about things that exist; nil is names, or project/name
	fields []field
	// nameless things have names that nobody types: a shell does not propose them.
	nameless bool
	// read asks for one thing; nil is the GET of its path.
	read func(ctx context.Context, s *session, name string) (answer, error)
}

// home is where a kind is found.
type home struct {
	within func() (*session, error)
	path   func(s *session) []string // of the list
}

// homeOf is the home of what belongs to a project.
func (p *program) homeOf(collection string) home {
	return home{p.inProject, func(s *session) []string { return s.in(collection) }}
}

// at is the path of one thing.
func (h home) at(s *session, name string) []string { return append(h.path(s), name) }

// fetch asks for a list.
func (h home) fetch(s *session, filters query) fetch {
	return func(ctx context.Context, paging query) (answer, error) {
		return s.ask(ctx, request{path: h.path(s), query: append(filters[:len(filters):len(filters)], paging...)})
	}
}

// every is everything that there is of a kind in a project, read and as it came.
func (k kind[T]) every(ctx context.Context, s *session, filters query) ([]T, []json.RawMessage, error) {
	l, err := s.pages(ctx, paging{}, k.fetch(s, filters))
	if err != nil {
		return nil, nil, err
	}
	items, err := decode[T](l.Items)
	return items, l.Items, err
}

// positional checks the arguments of a verb about things that exist.
func (k kind[T]) positional(most int) cobra.PositionalArgs {
	if k.args == nil {
		return refs(k.kind, 1, most)
	}
	return k.args
}

// ask asks for one thing.
func (k kind[T]) ask(ctx context.Context, s *session, name string) (answer, error) {
	if k.read != nil {
		return k.read(ctx, s, name)
	}
	return s.ask(ctx, get(k.at(s, name)...))
}

// readEach asks for the things that arguments name, one after the other.
func (k kind[T]) readEach(ctx context.Context, args []string) ([]json.RawMessage, error) {
	things, err := k.p.resources(k.within, args)
	if err != nil {
		return nil, err
	}
	docs := make([]json.RawMessage, 0, len(things))
	for _, r := range things {
		a, err := k.ask(ctx, r.session, r.name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, a.body)
	}
	return docs, nil
}

// getVerb is `get`, for one name or several.
func (k kind[T]) getVerb() *cobra.Command {
	return &cobra.Command{
		Use:               "get NAME...",
		Short:             "Show " + plural(k.kind) + " by name",
		Args:              k.positional(-1),
		ValidArgsFunction: k.complete(),
		RunE: k.p.verb(func(ctx context.Context, args []string) error {
			docs, err := k.readEach(ctx, args)
			if err != nil {
				return err
			}
			return several(k.p, k.view, docs)
		}),
	}
}

// showVerb is `show`: all there is to say about things that are named, one thing a line.
func (k kind[T]) showVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME...",
		Short: "Show all about " + plural(k.kind) + " by name, one thing a line",
		Long: "Shows what 'get -o wide' has of " + plural(k.kind) + ", and what is too long for a table, one thing a line. With another -o it is\n" +
			"'get'.",
		Args:              k.positional(-1),
		ValidArgsFunction: k.complete(),
		SuggestFor:        []string{"describe", "view"},
		RunE: k.p.verb(func(ctx context.Context, args []string) error {
			docs, err := k.readEach(ctx, args)
			if err != nil {
				return err
			}
			if k.p.flags.quiet || k.p.flags.output != formatTable {
				return several(k.p, k.view, docs)
			}
			return paragraphs(k.p, k.view, docs)
		}),
	}
}

// listVerb is `list`, with the filters of the kind.
func (k kind[T]) listVerb(long string, filters ...filter) *cobra.Command {
	var l paging
	cmd := bare(&cobra.Command{Use: "list", Short: "List " + plural(k.kind), Long: long, Aliases: []string{"ls"}})
	cmd.RunE = k.p.verb(func(ctx context.Context, _ []string) error {
		s, err := k.within()
		if err != nil {
			return err
		}
		q, err := filtered(cmd, filters)
		if err != nil {
			return err
		}
		found, err := s.pages(ctx, l, k.fetch(s, q))
		if err != nil {
			return err
		}
		return list(k.p, k.view, found)
	})
	k.p.addFilters(cmd, filters)
	l.add(cmd)
	return cmd
}

// creation is what is particular to the `create` of a kind; the texts are those of the command.
type creation struct {
	check func(cmd *cobra.Command) error                         // what flags mean together
	query func(cmd *cobra.Command) query                         // parameters beside those of every create
	shown func(s *session, doc json.RawMessage, w writing) error // in place of the view
}

// createVerb is `create`.
func (k kind[T]) createVerb(cmd *cobra.Command, c creation) *cobra.Command {
	var f creating
	cmd.Args, cmd.ValidArgsFunction = names(k.kind, 0, 1), cobra.NoFileCompletions
	fields := k.p.addFields(cmd, k.fields, false)
	f.add(cmd)
	cmd.RunE = k.p.verb(func(ctx context.Context, args []string) error {
		doc, err := f.metadata(k.kind, args)
		if err != nil {
			return err
		}
		if err := checked(cmd, c.check); err != nil {
			return err
		}
		if err := fields.into(cmd, doc); err != nil {
			return err
		}
		s, err := k.within()
		if err != nil {
			return err
		}
		var q query
		if c.query != nil {
			q = c.query(cmd)
		}
		a, err := k.create(ctx, s, f.writing, q, doc)
		switch {
		case err != nil:
			return err
		case c.shown != nil:
			return c.shown(s, a.body, f.writing)
		}
		return one(k.p, k.view, a.body)
	})
	return cmd
}

// create sends a document that makes a thing.
func (k kind[T]) create(ctx context.Context, s *session, w writing, q query, doc any) (answer, error) {
	body, err := marshal(doc)
	if err != nil {
		return answer{}, err
	}
	return s.post(ctx, w, request{path: k.path(s), query: q, body: body})
}

// setVerb is `set`: it sends a merge patch of one thing and shows what became of it. query are parameters beside those of every set.
func (k kind[T]) setVerb(cmd *cobra.Command, c creation) *cobra.Command {
	var f replacing
	cmd.Args, cmd.ValidArgsFunction, cmd.SuggestFor = k.positional(1), k.complete(), []string{"update", "edit", "patch", "change", "label"}
	fields := k.p.addFields(cmd, k.fields, true)
	f.add(cmd, "change only")
	cmd.RunE = k.p.verb(func(ctx context.Context, args []string) error {
		if err := checked(cmd, c.check); err != nil {
			return err
		}
		doc := map[string]any{}
		if err := fields.into(cmd, doc); err != nil {
			return err
		}
		if len(doc) == 0 {
			return usagef("nothing to set: '%s --help' says what can be changed", cmd.CommandPath())
		}
		body, err := marshal(doc)
		if err != nil {
			return err
		}
		r, err := k.p.resources(k.within, args)
		if err != nil {
			return err
		}
		var q query
		if c.query != nil {
			q = c.query(cmd)
		}
		a, err := r[0].change(ctx, request{
			method: http.MethodPatch, path: k.at(r[0].session, r[0].name), query: append(q, f.query()...), match: firstOf(f.ifMatch, "*"), body: body,
		}, k.kind+" was changed")
		if err != nil {
			return err
		}
		return one(k.p, k.view, a.body)
	})
	return cmd
}

// checked judges the flags together, where there is something to judge.
func checked(cmd *cobra.Command, check func(cmd *cobra.Command) error) error {
	if check == nil {
		return nil
	}
	return check(cmd)
}

// put sends a document that says how a thing is to be.
func (k kind[T]) put(ctx context.Context, s *session, name string, w replacing, doc any, done string) (answer, error) {
	body, err := marshal(doc)
	if err != nil || bytes.Equal(body, []byte("null")) {
		body = nil // a put that says all in its path
	}
	if err != nil {
		return answer{}, err
	}
	return s.change(ctx, request{method: http.MethodPut, path: k.at(s, name), query: w.query(), match: w.ifMatch, body: body}, done)
}
