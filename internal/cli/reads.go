package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"
)

// getVerb is the get of one kind, for one name or several.
func getVerb[T any](p *program, v view[T], within func() (*session, error), complete completion,
	send func(ctx context.Context, s *session, name string) (*http.Response, error),
) *cobra.Command {
	return &cobra.Command{
		Use:               "get NAME...",
		Short:             "Show " + plural(v.kind) + " by name",
		Args:              refs(v.kind, 1, -1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			docs, err := p.readEach(ctx, within, args, send)
			if err != nil {
				return err
			}
			return several(p, v, docs)
		}),
	}
}

// showVerb is the show of one kind: all there is to say about things that are named, one thing a line.
func showVerb[T any](p *program, v view[T], within func() (*session, error), complete completion,
	send func(ctx context.Context, s *session, name string) (*http.Response, error),
) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME...",
		Short: "Show all about " + plural(v.kind) + " by name, one thing a line",
		Long: "Shows what 'get -o wide' has of " + plural(v.kind) + ", and what is too long for a table, one thing a line. With another -o it is\n" +
			"'get'.",
		Args:              refs(v.kind, 1, -1),
		ValidArgsFunction: complete,
		SuggestFor:        []string{"describe", "view"},
		RunE: p.verb(func(ctx context.Context, args []string) error {
			docs, err := p.readEach(ctx, within, args, send)
			if err != nil {
				return err
			}
			if p.flags.quiet || p.flags.output != formatTable {
				return several(p, v, docs)
			}
			return paragraphs(p, v, docs)
		}),
	}
}

// readEach asks for the things that arguments name, one after the other.
func (p *program) readEach(ctx context.Context, within func() (*session, error), args []string,
	send func(ctx context.Context, s *session, name string) (*http.Response, error),
) ([]json.RawMessage, error) {
	things, err := p.resources(within, args)
	if err != nil {
		return nil, err
	}
	docs := make([]json.RawMessage, 0, len(things))
	for _, r := range things {
		a, err := r.ask(ctx, func(ctx context.Context) (*http.Response, error) { return send(ctx, r.session, r.name) })
		if err != nil {
			return nil, err
		}
		docs = append(docs, a.body)
	}
	return docs, nil
}

// listVerb is the list of one kind. prepare reads the kind's own filters and answers how to fetch a page with them.
func listVerb[T any](p *program, v view[T], long string, within func() (*session, error),
	flags func(cmd *cobra.Command), prepare func(s *session) (fetch, error),
) *cobra.Command {
	var l paging
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List " + plural(v.kind),
		Long:              long,
		Aliases:           []string{"ls"},
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			s, err := within()
			if err != nil {
				return err
			}
			next, err := prepare(s)
			if err != nil {
				return err
			}
			found, err := s.pages(ctx, l, next)
			if err != nil {
				return err
			}
			return list(p, v, found)
		}),
	}
	flags(cmd)
	l.add(cmd)
	return cmd
}
