package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// deleting are the flags of every delete.
type deleting struct {
	writing
	ifMatch string
	missing bool
}

func (d *deleting) add(cmd *cobra.Command, done string) {
	f := cmd.Flags()
	f.BoolVar(&d.dryRun, "dry-run", false, "say what would happen and change nothing")
	f.StringVar(&d.ifMatch, "if-match", "", "only this revision: the `ETAG`, metadata.revision in double quotes")
	f.BoolVar(&d.missing, "ignore-not-found", false, "what does not exist counts as "+done)
}

// removal is the delete of one kind.
type removal struct {
	kind string
	use  string // the verb with its arguments; default "delete NAME..."
	done string // what has happened then; default "deleted"
	long string
	args cobra.PositionalArgs // default: names of the kind, or project/name

	within   func() (*session, error)
	complete completion
	// read asks for the thing, to find out what became of a request without an answer.
	read func(ctx context.Context, s *session, name string) (*http.Response, error)
	send func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error)
	// left asks, before anything is deleted, what will stay behind, for the sentence that says what was done; nil: nothing does.
	left func(ctx context.Context, s *session, name string, dry bool) (string, error)
}

// deleteVerb is the delete of one kind, for one name or several.
func (p *program) deleteVerb(r removal) *cobra.Command {
	r.use, r.done = firstOf(r.use, "delete NAME..."), firstOf(r.done, "deleted")
	if r.args == nil {
		r.args = refs(r.kind, 1, -1)
	}
	var d deleting
	cmd := &cobra.Command{
		Use:               r.use,
		Long:              r.long,
		Args:              r.args,
		ValidArgsFunction: r.complete,
	}
	cmd.Short = capital(cmd.Name()) + " " + plural(r.kind)
	cmd.Aliases = []string{"rm", "delete"}
	if cmd.Name() == "delete" {
		cmd.Aliases = []string{"rm"}
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		if d.ifMatch != "" && len(args) > 1 {
			return usagef("--if-match is about one %s, not %d", r.kind, len(args))
		}
		things, err := p.resources(r.within, args)
		if err != nil {
			return err
		}
		return p.deleteAll(ctx, r, things, d)
	})
	d.add(cmd, r.done)
	return cmd
}

// deleteAll deletes one after the other. What is refused does not stop the rest; its exit code is the verb's.
func (p *program) deleteAll(ctx context.Context, r removal, things []resource, d deleting) error {
	end := exitOK
	for _, t := range things {
		left, err := t.whatIsLeft(ctx, r, d)
		if err == nil {
			err = t.deleteOne(ctx, r, t.name, d)
		}
		switch {
		case err == nil:
			if err := p.removed(r.kind, t.said, r.done, left, d.dryRun); err != nil {
				return err
			}
		case d.missing && exitCodeOf(err) == exitNotFound:
			p.remark("%s %s was not there", r.kind, t.said)
		case len(things) == 1 || ctx.Err() != nil:
			return err
		default:
			p.note("error: %s %s: %s", r.kind, t.said, err)
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
func (s *session) deleteOne(ctx context.Context, r removal, name string, d deleting) error {
	_, err := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return r.send(ctx, s, name, d) })
	if d.dryRun || !unsettled(err) || ctx.Err() != nil {
		return err
	}
	s.remark("it is not known whether %s %s was %s; looking", r.kind, name, r.done)
	found, lost := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return r.read(ctx, s, name) })
	switch {
	case exitCodeOf(lost) == exitNotFound:
		return nil
	case lost != nil:
		return &unsettledDelete{error: err, advice: "It is not known whether the " + r.kind + " was " + r.done + ": look before you repeat it."}
	case d.ifMatch != "" && found.header.Get("ETag") != d.ifMatch:
		return &unsettledDelete{error: err, advice: "There is a " + r.kind + " of this name now, and it is not the revision that you named."}
	default:
		return &unsettledDelete{error: err, advice: "There is a " + r.kind + " of this name now: the same one, or one that was made meanwhile. " +
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

// match is the header, absent unless it is asked for.
func (d deleting) match() *client.OptionalIfMatch { return optional[client.OptionalIfMatch](d.ifMatch) }
