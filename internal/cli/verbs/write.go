package verbs

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Writer describes a command that fills a document from its flags and sends it.
type Writer struct {
	Use, Short, Long, Example string

	Required []string // flags
	Flags    func(cmd *cobra.Command)
	Check    func(cmd *cobra.Command) error         // refuses flags that contradict each other
	Query    func(cmd *cobra.Command) session.Query // returns additional parameters
	Secret   *Secret                                // the secret that only the response to a create contains
	Merge    bool                                   // the document changes an object; `none` clears a field
	some     bool                                   // the document must not be empty
}

// Send sends the document that the flags describe. r is the object that the first argument names; without arguments, its name is empty.
type Send func(ctx context.Context, r Resource, doc map[string]any, q session.Query) error

// Writing returns a command that writes an object. The command has the given fields' flags.
func (k Kind) Writing(w Writer, fields []Field, send Send) *cobra.Command {
	cmd := &cobra.Command{Use: w.Use, Short: w.Short, Long: w.Long, Example: w.Example}
	given := addFields(k.P, cmd, k.Object, fields, w.Merge)
	if w.Flags != nil {
		w.Flags(cmd)
	}
	for _, flag := range w.Required {
		Required(cmd, flag)
	}
	cmd.Args, cmd.ValidArgsFunction = Names(k.Kind, 1, 1), k.Complete()
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		if w.Check != nil {
			if err := w.Check(cmd); err != nil {
				return err
			}
		}
		doc := map[string]any{}
		if err := given.into(doc); err != nil {
			return err
		}
		if w.some && len(doc) == 0 {
			return exit.Usagef("nothing to set: '%s --help' lists the fields", cmd.CommandPath())
		}
		r, err := first(k.P, k.Open, args)
		if err != nil {
			return err
		}
		var q session.Query
		if w.Query != nil {
			q = w.Query(cmd)
		}
		return send(ctx, r, doc, q)
	})
	return cmd
}

// createVerb returns the command `create`.
func (k Kind) createVerb(w Writer) *cobra.Command {
	var f creating
	check := w.Check
	w.Use = show.FirstOf(w.Use, "create NAME")
	w.Check = func(cmd *cobra.Command) error {
		err := f.named(k.Kind, cmd.Flags().Args())
		if err == nil {
			err = w.Secret.check(k.P)
		}
		if err == nil && check != nil {
			err = check(cmd)
		}
		return err
	}
	cmd := k.Writing(w, k.Fields, func(ctx context.Context, r Resource, doc map[string]any, q session.Query) error {
		a, err := k.Post(ctx, r.Session, f.Writing, q, f.metadata(doc, r.Name))
		if err == nil && w.Secret != nil {
			return showOnce(r.Session, k.View, a.Body, f.Writing, *w.Secret)
		}
		return k.Shown(a, err)
	})
	cmd.Args, cmd.ValidArgsFunction = Names(k.Kind, 0, 1), cobra.NoFileCompletions
	f.add(cmd)
	return cmd
}

// Shown shows the object in the response to a write.
func (k Kind) Shown(a session.Answer, err error) error {
	if err != nil {
		return err
	}
	return show.One(k.P.Printer, k.View, a.Body)
}

// Post creates an object from a document.
func (k Kind) Post(ctx context.Context, s *session.Session, w session.Writing, q session.Query, doc any) (session.Answer, error) {
	return s.Post(ctx, w, session.Request{Path: k.list(s), Query: q, Body: doc})
}

// setVerb returns the command `set`. It sends a merge patch for one object and shows the result.
func (k Kind) setVerb(w Writer) *cobra.Command {
	var f Replacing
	w.Merge, w.some = true, true
	cmd := k.Writing(w, k.Fields, func(ctx context.Context, r Resource, doc map[string]any, q session.Query) error {
		return k.Shown(r.Change(ctx, session.Request{
			Method: http.MethodPatch, Path: k.at(r.Session, r.Name), Query: append(q, f.Query()...), Match: show.FirstOf(f.IfMatch, "*"), Body: doc,
		}, k.Kind+" was changed"))
	})
	cmd.Args, cmd.SuggestFor = k.Named(1), []string{"update", "edit", "patch", "change", "label"}
	f.Add(cmd, "change only")
	return cmd
}

// Put replaces an object with a document. If the document is nil, the path contains all values.
func (k Kind) Put(ctx context.Context, s *session.Session, name string, w Replacing, doc any, done string) (session.Answer, error) {
	return s.Change(ctx, session.Request{Method: http.MethodPut, Path: k.at(s, name), Query: w.Query(), Match: w.IfMatch, Create: w.Create, Body: doc}, done)
}
