package verbs

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// deleting has the flags of every delete command.
type deleting struct {
	Replacing
	missing bool
}

func (d *deleting) add(cmd *cobra.Command, done string) {
	d.Add(cmd, "only")
	cmd.Flags().Lookup("dry-run").Usage = "show the result, and change nothing"
	cmd.Flags().BoolVar(&d.missing, "ignore-not-found", false, "count missing objects as "+done)
}

// Removal configures a kind's delete.
type Removal struct {
	Use  string // the verb with its arguments; default "delete NAME..."
	Done string // the past participle of the verb; default "deleted"
	Long string
	Many Selection // ways to select several things; default: by name
	// Apart means that no thing of the kind depends on another, so that several are deleted concurrently.
	Apart bool
	// Left returns a phrase for the final message, about an object that stays after the deletion, such as a retained allocation. nil: none stays.
	Left func(project string, doc json.RawMessage, dry bool) (string, error)
}

// Selection is the ways to select several things for deletion.
type Selection int

// ByName allows only names, ByAll also --all, and ByLabels also --all and --selector.
const (
	ByName Selection = iota
	ByAll
	ByLabels
)

// DeleteVerb returns one kind's delete, for one name or several.
func (k Kind[T]) DeleteVerb(r Removal) *cobra.Command {
	r.Use, r.Done = show.FirstOf(r.Use, "delete NAME..."), show.FirstOf(r.Done, "deleted")
	var d deleting
	var sel selecting
	cmd := &cobra.Command{Use: r.Use, Long: r.Long, Args: k.selected(&sel), ValidArgsFunction: k.Complete()}
	cmd.Short = show.Capital(cmd.Name()) + " " + show.Plural(k.Kind)
	cmd.Aliases = []string{"rm", "delete"}
	if cmd.Name() == "delete" {
		cmd.Aliases = []string{"rm"}
	}
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		if sel.given() {
			if d.IfMatch != "" {
				return exit.Usagef("--if-match works with one %s only", k.Kind)
			}
			return k.deleteSelected(ctx, r, sel, d)
		}
		if d.IfMatch != "" && len(args) > 1 {
			return exit.Usagef("--if-match works with one %s only, not %d", k.Kind, len(args))
		}
		things, err := Resources(k.P, k.Within, args)
		if err != nil {
			return err
		}
		return k.deleteAll(ctx, r, things, d)
	})
	d.add(cmd, r.Done)
	if r.Many != ByName {
		sel.add(cmd, show.Plural(k.Kind), r.Many == ByLabels)
	}
	return cmd
}

// deleteAll deletes things and reports them in order. A refusal does not stop the other deletions. The exit code is the first refusal's.
func (k Kind[T]) deleteAll(ctx context.Context, r Removal, things []Resource, d deleting) error {
	ctx, stop := context.WithCancel(ctx)
	results, ended := k.deleteEach(ctx, r, things, d)
	defer ended()
	defer stop()
	end := exit.OK
	for i, t := range things {
		k.P.Progress("%d of %d %s", i, len(things), show.Plural(k.Kind))
		result := <-results[i]
		switch err := result.err; {
		case err == nil:
			if err := Removed(k.P, k.Kind, t.said, r.Done, result.left, d.DryRun); err != nil {
				return err
			}
		case d.missing && exit.CodeOf(err) == exit.NotFound:
			k.P.Remark("%s %s was not there", k.Kind, t.said)
		case len(things) == 1 || ctx.Err() != nil:
			return err
		default:
			k.P.Note("error: %s %s: %s", k.Kind, t.said, err)
			if end == exit.OK {
				end = exit.CodeOf(err)
			}
		}
	}
	if end != exit.OK {
		return exit.Verdict(end)
	}
	return nil
}

// deleted is the result of one deletion, with the phrase from Removal.Left.
type deleted struct {
	left string
	err  error
}

// together is the number of independent things that are deleted concurrently.
const together = 8

// deleteEach starts to delete things in order. It returns a channel for each thing, which gets the result even if ctx ends. The returned function
// waits until all deletions have ended.
func (k Kind[T]) deleteEach(ctx context.Context, r Removal, things []Resource, d deleting) ([]chan deleted, func()) {
	results := make([]chan deleted, len(things))
	for i := range results {
		results[i] = make(chan deleted, 1)
	}
	var running errgroup.Group
	running.SetLimit(1)
	if r.Apart {
		running.SetLimit(together)
	}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		for i, t := range things {
			running.Go(func() error {
				results[i] <- k.deleteNext(ctx, r, t, d)
				return nil
			})
		}
	}()
	return results, func() {
		<-begun
		_ = running.Wait() // the functions return no error
	}
}

// deleteNext deletes one thing, unless ctx has ended.
func (k Kind[T]) deleteNext(ctx context.Context, r Removal, t Resource, d deleting) (of deleted) {
	if of.err = ctx.Err(); of.err != nil {
		return of
	}
	if of.left, of.err = k.whatIsLeft(ctx, r, t, d); of.err == nil {
		of.err = k.deleteOne(ctx, r, t, d)
	}
	return of
}

// whatIsLeft returns the phrase from Removal.Left, if the output is for people. For a missing or hidden thing it returns the error that the
// delete would return.
func (k Kind[T]) whatIsLeft(ctx context.Context, r Removal, t Resource, d deleting) (string, error) {
	if r.Left == nil || !t.Tabular() {
		return "", nil
	}
	if t.doc == nil {
		a, err := k.Ask(ctx, t.Session, t.Name)
		if err != nil {
			return "", err
		}
		t.doc = a.Body
	}
	return r.Left(t.Project, t.doc, d.DryRun)
}

// deleteOne deletes one thing. A lost response leaves the result open, and a retry is not safe: by then another thing may have the name. So deleteOne
// reads the thing. If it is gone, the delete succeeded; if something exists, the caller must decide, because it may be the old or a new thing.
func (k Kind[T]) deleteOne(ctx context.Context, r Removal, t Resource, d deleting) error {
	_, err := t.Ask(ctx, session.Request{Method: http.MethodDelete, Path: k.at(t.Session, t.Name), Query: d.Query(), Match: show.FirstOf(d.IfMatch, t.match)})
	if d.DryRun || !session.Unsettled(err) || ctx.Err() != nil {
		return err
	}
	t.Remark("it is unknown whether %s %s was %s; checking", k.Kind, t.Name, r.Done)
	found, lost := k.Ask(ctx, t.Session, t.Name)
	switch {
	case exit.CodeOf(lost) == exit.NotFound:
		return nil
	case lost != nil:
		return &unsettledDelete{error: err, advice: "It is unknown whether the " + k.Kind + " was " + r.Done + ". Check before you retry."}
	case d.IfMatch != "" && found.Header.Get("ETag") != d.IfMatch:
		return &unsettledDelete{error: err, advice: "There is a " + k.Kind + " of this name now, at another revision than --if-match."}
	default:
		return &unsettledDelete{error: err, advice: "There is a " + k.Kind + " of this name now: the old one, or a new one. " +
			"Check it. To delete exactly this one, use: --if-match '" + found.Header.Get("ETag") + "'"}
	}
}

// unsettledDelete is the error for a delete with an unknown result.
type unsettledDelete struct {
	error
	advice string
}

func (e *unsettledDelete) Error() string { return e.error.Error() + "\n" + e.advice }
func (e *unsettledDelete) Unwrap() error { return e.error }

// Removed prints a deletion: nothing for structured output, because no document remains; the name with --quiet or -o name; otherwise a sentence.
func Removed(p *session.Program, kind, name, done, left string, dry bool) error {
	switch {
	case p.Structured():
		return nil
	case p.Quiet || p.Output == show.FormatName:
		return p.Lines([]string{name})
	case dry:
		return p.Lines([]string{kind + " " + name + " would be " + done + left + " (dry run)"})
	default:
		return p.Lines([]string{kind + " " + name + " " + done + left})
	}
}
