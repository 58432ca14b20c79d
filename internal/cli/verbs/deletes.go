package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// deleting has the flags that every delete command has.
type deleting struct {
	Replacing
	missing bool
}

func (d *deleting) add(cmd *cobra.Command, done string) {
	d.Add(cmd, "only")
	cmd.Flags().Lookup("dry-run").Usage = "show the result, and change nothing"
	cmd.Flags().BoolVar(&d.missing, "ignore-not-found", false, "count missing objects as "+done)
}

// Removal configures a kind's delete command.
type Removal struct {
	Verb string // default "delete"
	Done string // the verb's past participle; default "deleted"
	Long string
	Many Selection // ways to select several objects; the default is by name
	// Apart means that the objects do not depend on each other. The command then deletes several objects concurrently.
	Apart bool
	// Left returns a phrase for the final message about an object that stays after the deletion, such as a retained allocation. If no object can
	// stay, Left is nil.
	Left func(project string, doc json.RawMessage, dry bool) (string, error)
}

// Selection lists the ways to select several objects for deletion.
type Selection int

// ByName allows only names. ByAll also allows --all. ByLabels also allows --all and --selector.
const (
	ByName Selection = iota
	ByAll
	ByLabels
)

// deleteVerb returns a kind's delete command. It takes one or more names.
func (k Kind) deleteVerb(r Removal) *cobra.Command {
	r.Verb, r.Done = show.FirstOf(r.Verb, "delete"), show.FirstOf(r.Done, "deleted")
	var d deleting
	var sel selecting
	cmd := k.Command(&cobra.Command{Use: k.use(r.Verb), Short: show.Capital(r.Verb) + " " + show.Plural(k.Kind), Long: r.Long})
	cmd.Args = k.selected(&sel)
	cmd.Aliases = []string{"rm", "delete"}
	if r.Verb == "delete" {
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
		resources, err := Resources(k.P, k.Open, args)
		if err != nil {
			return err
		}
		return k.deleteAll(ctx, r, resources, d)
	})
	d.add(cmd, r.Done)
	if r.Many != ByName {
		sel.add(cmd, show.Plural(k.Kind), r.Many == ByLabels)
	}
	return cmd
}

// deleteAll deletes objects and reports the results in order. If the server refuses one deletion, the other deletions continue. The exit code is the
// code of the first refusal.
func (k Kind) deleteAll(ctx context.Context, r Removal, resources []Resource, d deleting) error {
	ctx, stop := context.WithCancel(ctx)
	results, ended := k.deleteEach(ctx, r, resources, d)
	defer ended()
	defer stop()
	end := exit.OK
	for i, t := range resources {
		k.P.Progress("%d of %d %s", i, len(resources), show.Plural(k.Kind))
		result := <-results[i]
		switch err := result.err; {
		case err == nil:
			if err := Removed(k.P, k.Kind, t.argument, r.Done, result.left, d.DryRun); err != nil {
				return err
			}
		case d.missing && exit.CodeOf(err) == exit.NotFound:
			k.P.Remark("%s %s was not there", k.Kind, t.argument)
		case len(resources) == 1 || ctx.Err() != nil:
			return err
		default:
			k.P.Note("error: %s %s: %s", k.Kind, t.argument, err)
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

// deleted is one deletion's result. left is the phrase from Removal.Left.
type deleted struct {
	left string
	err  error
}

// together limits the independent objects that are deleted concurrently.
const together = 8

// deleteEach starts to delete objects in order. It returns a channel for each object. Each channel receives its result, even if ctx ends. The
// returned function waits until all deletions have ended.
func (k Kind) deleteEach(ctx context.Context, r Removal, resources []Resource, d deleting) ([]chan deleted, func()) {
	results := make([]chan deleted, len(resources))
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
		for i, t := range resources {
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

// deleteNext deletes one object. If ctx has ended, it does nothing.
func (k Kind) deleteNext(ctx context.Context, r Removal, t Resource, d deleting) (of deleted) {
	if of.err = ctx.Err(); of.err != nil {
		return of
	}
	if of.left, of.err = k.whatIsLeft(ctx, r, t, d); of.err == nil {
		of.err = k.deleteOne(ctx, r, t, d)
	}
	return of
}

// whatIsLeft returns the phrase from Removal.Left if the output is for people. If the object does not exist or is hidden, it returns the same error
// as the delete.
func (k Kind) whatIsLeft(ctx context.Context, r Removal, t Resource, d deleting) (string, error) {
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

// deleteOne deletes one object. If the response is lost, the result is unknown. A retry is not safe then, because a new object may have the name by
// that time. Therefore deleteOne reads the object. If the object does not exist, the delete succeeded. Otherwise deleteOne returns an error, and the
// user decides, because the object may be the old one or a new one.
func (k Kind) deleteOne(ctx context.Context, r Removal, t Resource, d deleting) error {
	_, err := t.Ask(ctx, session.Request{Method: http.MethodDelete, Path: k.at(t.Session, t.Name), Query: d.Query(), Match: show.FirstOf(d.IfMatch, t.match)})
	if d.DryRun || !session.Unsettled(err) || ctx.Err() != nil {
		return err
	}
	t.Remark("it is unknown whether %s %s was %s; checking", k.Kind, t.Name, r.Done)
	found, lost := k.Ask(ctx, t.Session, t.Name)
	etag := found.Header.Get("ETag")
	advice := "There is a " + k.Kind + " of this name now: the old one, or a new one. Check it. To delete exactly this one, use: --if-match '" + etag + "'"
	switch {
	case exit.CodeOf(lost) == exit.NotFound:
		return nil
	case lost != nil:
		advice = "It is unknown whether the " + k.Kind + " was " + r.Done + ". Check before you retry."
	case d.IfMatch != "" && etag != d.IfMatch:
		advice = "There is a " + k.Kind + " of this name now, at another revision than --if-match."
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

// Removed prints a deletion's result. Structured output has nothing, because no document remains. With --quiet or -o name it prints the name.
// Otherwise it prints a sentence.
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
