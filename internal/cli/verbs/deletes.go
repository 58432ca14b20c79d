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

// deleting are the flags of every delete.
type deleting struct {
	Replacing
	missing bool
}

func (d *deleting) add(cmd *cobra.Command, done string) {
	d.Add(cmd, "only")
	cmd.Flags().Lookup("dry-run").Usage = "say what would happen and change nothing"
	cmd.Flags().BoolVar(&d.missing, "ignore-not-found", false, "what does not exist counts as "+done)
}

// Removal is what is particular to the delete of a kind.
type Removal struct {
	Use  string // the verb with its arguments; default "delete NAME..."
	Done string // what has happened then; default "deleted"
	Long string
	Many Selection // how many can be deleted at once; default: those that are named
	// Apart says that no thing of the kind stands on another: several are deleted at a time.
	Apart bool
	// Left says of a thing, before it is deleted, what will stay behind, for the sentence that says what was done; nil: nothing does.
	Left func(project string, doc json.RawMessage, dry bool) (string, error)
}

// Selection says how many things can be deleted at once.
type Selection int

// By name alone, all of a kind too, or by labels too.
const (
	ByName Selection = iota
	ByAll
	ByLabels
)

// DeleteVerb is the delete of one kind, for one name or several.
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
				return exit.Usagef("--if-match is about one %s", k.Kind)
			}
			return k.deleteSelected(ctx, r, sel, d)
		}
		if d.IfMatch != "" && len(args) > 1 {
			return exit.Usagef("--if-match is about one %s, not %d", k.Kind, len(args))
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

// deleteAll deletes things, and tells of them in their order. What is refused does not stop the rest; its exit code is the verb's.
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

// deleted is what became of one thing, and what stayed behind of it.
type deleted struct {
	left string
	err  error
}

// together is how many things are deleted at a time that do not stand on each other.
const together = 8

// deleteEach begins to delete things, in their order. Each has a result, also when ctx ends; the function waits for all.
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
		_ = running.Wait() // none answers an error
	}
}

// deleteNext deletes one thing, unless it is not to go on.
func (k Kind[T]) deleteNext(ctx context.Context, r Removal, t Resource, d deleting) (of deleted) {
	if of.err = ctx.Err(); of.err != nil {
		return of
	}
	if of.left, of.err = k.whatIsLeft(ctx, r, t, d); of.err == nil {
		of.err = k.deleteOne(ctx, r, t, d)
	}
	return of
}

// whatIsLeft says what will stay behind, where there is somebody to read it. A thing that is not there, or may not be seen, is what the
// delete would have said as well.
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

// deleteOne deletes one thing. An answer that is lost leaves open whether it was deleted, and asking again is not safe: by
// then somebody may have made another one of that name. So it looks: nothing there is what was wanted; something there is
// for the caller to judge, because it may be either.
func (k Kind[T]) deleteOne(ctx context.Context, r Removal, t Resource, d deleting) error {
	_, err := t.Ask(ctx, session.Request{Method: http.MethodDelete, Path: k.at(t.Session, t.Name), Query: d.Query(), Match: show.FirstOf(d.IfMatch, t.match)})
	if d.DryRun || !session.Unsettled(err) || ctx.Err() != nil {
		return err
	}
	t.Remark("it is not known whether %s %s was %s; looking", k.Kind, t.Name, r.Done)
	found, lost := k.Ask(ctx, t.Session, t.Name)
	switch {
	case exit.CodeOf(lost) == exit.NotFound:
		return nil
	case lost != nil:
		return &unsettledDelete{error: err, advice: "It is not known whether the " + k.Kind + " was " + r.Done + ": look before you repeat it."}
	case d.IfMatch != "" && found.Header.Get("ETag") != d.IfMatch:
		return &unsettledDelete{error: err, advice: "There is a " + k.Kind + " of this name now, and it is not the revision that you named."}
	default:
		return &unsettledDelete{error: err, advice: "There is a " + k.Kind + " of this name now: the same one, or one that was made meanwhile. " +
			"Look at it; this very one goes with: --if-match '" + found.Header.Get("ETag") + "'"}
	}
}

// unsettledDelete is a delete of which nobody can say whether it took place.
type unsettledDelete struct {
	error
	advice string
}

func (e *unsettledDelete) Error() string { return e.error.Error() + "\n" + e.advice }
func (e *unsettledDelete) Unwrap() error { return e.error }

// Removed says what was done: the name for programs, a sentence for people, and no document, because there is none.
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
