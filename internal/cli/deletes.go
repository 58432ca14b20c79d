package cli

import (
	"context"
	"fmt"
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

func (d *deleting) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&d.dryRun, "dry-run", false, "say what would happen and change nothing")
	f.StringVar(&d.ifMatch, "if-match", "", "delete only this revision: the `ETAG`, metadata.revision in double quotes")
	f.BoolVar(&d.missing, "ignore-not-found", false, "what does not exist counts as deleted")
}

// deleteVerb is the delete of one kind, for one name or several.
func (p *program) deleteVerb(kind, long string, within func() (*session, error), complete completion,
	send func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error),
) *cobra.Command {
	var d deleting
	cmd := &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete " + kind + "s",
		Long:              long,
		Aliases:           []string{"rm"},
		Args:              names(kind, 1, -1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			if d.ifMatch != "" && len(args) > 1 {
				return usagef("--if-match is about one %s, not %d", kind, len(args))
			}
			s, err := within()
			if err != nil {
				return err
			}
			return s.deleteAll(ctx, kind, args, d, send)
		}),
	}
	d.add(cmd)
	return cmd
}

// deleteAll deletes one after the other. What is refused does not stop the rest; its exit code is the verb's.
func (s *session) deleteAll(ctx context.Context, kind string, names []string, d deleting,
	send func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error),
) error {
	end := exitOK
	for _, name := range names {
		_, err := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return send(ctx, s, name, d) })
		switch {
		case err == nil:
			if err := s.deleted(kind, name, d); err != nil {
				return err
			}
		case d.missing && exitCodeOf(err) == exitNotFound:
			s.remark("%s %s was not there", kind, name)
		case len(names) == 1 || ctx.Err() != nil:
			return err
		default:
			s.note("error: %s %s: %s", kind, name, err)
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

// deleted says what was done: the name for programs, a sentence for people, and no document, because there is none.
func (s *session) deleted(kind, name string, d deleting) error {
	switch {
	case s.flags.output == formatJSON || s.flags.output == formatYAML:
		return nil
	case s.flags.quiet || s.flags.output == formatName:
		return s.lines([]string{name})
	case d.dryRun:
		return s.lines([]string{kind + " " + name + " would be deleted (dry run)"})
	default:
		return s.lines([]string{kind + " " + name + " deleted"})
	}
}

// match is the header, absent unless it is asked for.
func (d deleting) match() *client.OptionalIfMatch { return optional[client.OptionalIfMatch](d.ifMatch) }

// names checks that arguments are names, at least and at most so many; -1 is any number.
func names(kind string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least && least == 1:
			return usagef("%s needs the name of a %s", cmd.CommandPath(), kind)
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s, not %d", cmd.CommandPath(), atMost(most), len(args))
		}
		for _, a := range args {
			if err := checkName(kind, a); err != nil {
				return err
			}
		}
		return nil
	}
}

func atMost(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "one argument at most"
	default:
		return fmt.Sprintf("%d arguments at most", n)
	}
}
