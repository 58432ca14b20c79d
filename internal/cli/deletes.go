package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"
)

// deleting are the flags of every delete.
type deleting struct {
	replacing
	missing bool
}

func (d *deleting) add(cmd *cobra.Command, done string) {
	d.replacing.add(cmd, "only")
	cmd.Flags().Lookup("dry-run").Usage = "say what would happen and change nothing"
	cmd.Flags().BoolVar(&d.missing, "ignore-not-found", false, "what does not exist counts as "+done)
}

// removal is what is particular to the delete of a kind.
type removal struct {
	use  string // the verb with its arguments; default "delete NAME..."
	done string // what has happened then; default "deleted"
	long string
	// left asks, before anything is deleted, what will stay behind, for the sentence that says what was done; nil: nothing does.
	left func(ctx context.Context, s *session, name string, dry bool) (string, error)
}

// deleteVerb is the delete of one kind, for one name or several.
func (k kind[T]) deleteVerb(r removal) *cobra.Command {
	r.use, r.done = firstOf(r.use, "delete NAME..."), firstOf(r.done, "deleted")
	var d deleting
	cmd := &cobra.Command{Use: r.use, Long: r.long, Args: k.positional(-1), ValidArgsFunction: k.complete()}
	cmd.Short = capital(cmd.Name()) + " " + plural(k.kind)
	cmd.Aliases = []string{"rm", "delete"}
	if cmd.Name() == "delete" {
		cmd.Aliases = []string{"rm"}
	}
	cmd.RunE = k.p.verb(func(ctx context.Context, args []string) error {
		if d.ifMatch != "" && len(args) > 1 {
			return usagef("--if-match is about one %s, not %d", k.kind, len(args))
		}
		things, err := k.p.resources(k.within, args)
		if err != nil {
			return err
		}
		return k.deleteAll(ctx, r, things, d)
	})
	d.add(cmd, r.done)
	return cmd
}

// deleteAll deletes one after the other. What is refused does not stop the rest; its exit code is the verb's.
func (k kind[T]) deleteAll(ctx context.Context, r removal, things []resource, d deleting) error {
	end := exitOK
	for _, t := range things {
		left, err := t.whatIsLeft(ctx, r, d)
		if err == nil {
			err = k.deleteOne(ctx, r, t, d)
		}
		switch {
		case err == nil:
			if err := k.p.removed(k.kind, t.said, r.done, left, d.dryRun); err != nil {
				return err
			}
		case d.missing && exitCodeOf(err) == exitNotFound:
			k.p.remark("%s %s was not there", k.kind, t.said)
		case len(things) == 1 || ctx.Err() != nil:
			return err
		default:
			k.p.note("error: %s %s: %s", k.kind, t.said, err)
			if end == exitOK {
				end = exitCodeOf(err)
			}
		}
	}
	if end != exitOK {
		return verdict(end)
	}
	return nil
}

// whatIsLeft asks what will stay behind, where there is somebody to read it. A thing that is not there, or may not be seen, is what the
// delete would have said as well.
func (t resource) whatIsLeft(ctx context.Context, r removal, d deleting) (string, error) {
	if r.left == nil || t.flags.quiet || t.flags.output != formatTable && t.flags.output != formatWide {
		return "", nil
	}
	return r.left(ctx, t.session, t.name, d.dryRun)
}

// deleteOne deletes one thing. An answer that is lost leaves open whether it was deleted, and asking again is not safe: by
// then somebody may have made another one of that name. So it looks: nothing there is what was wanted; something there is
// for the caller to judge, because it may be either.
func (k kind[T]) deleteOne(ctx context.Context, r removal, t resource, d deleting) error {
	_, err := t.ask(ctx, request{method: http.MethodDelete, path: k.at(t.session, t.name), query: d.query(), match: d.ifMatch})
	if d.dryRun || !unsettled(err) || ctx.Err() != nil {
		return err
	}
	t.remark("it is not known whether %s %s was %s; looking", k.kind, t.name, r.done)
	found, lost := k.ask(ctx, t.session, t.name)
	switch {
	case exitCodeOf(lost) == exitNotFound:
		return nil
	case lost != nil:
		return &unsettledDelete{error: err, advice: "It is not known whether the " + k.kind + " was " + r.done + ": look before you repeat it."}
	case d.ifMatch != "" && found.header.Get("ETag") != d.ifMatch:
		return &unsettledDelete{error: err, advice: "There is a " + k.kind + " of this name now, and it is not the revision that you named."}
	default:
		return &unsettledDelete{error: err, advice: "There is a " + k.kind + " of this name now: the same one, or one that was made meanwhile. " +
			"Look at it; this very one goes with: --if-match '" + found.header.Get("ETag") + "'"}
	}
}

// unsettledDelete is a delete of which nobody can say whether it took place.
type unsettledDelete struct {
	error
	advice string
}

func (e *unsettledDelete) Error() string { return e.error.Error() + "\n" + e.advice }
func (e *unsettledDelete) Unwrap() error { return e.error }

// removed says what was done: the name for programs, a sentence for people, and no document, because there is none.
func (p *program) removed(kind, name, done, left string, dry bool) error {
	switch {
	case p.flags.output == formatJSON || p.flags.output == formatYAML:
		return nil
	case p.flags.quiet || p.flags.output == formatName:
		return p.lines([]string{name})
	case dry:
		return p.lines([]string{kind + " " + name + " would be " + done + left + " (dry run)"})
	default:
		return p.lines([]string{kind + " " + name + " " + done + left})
	}
}
