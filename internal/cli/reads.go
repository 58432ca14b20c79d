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
		Args:              names(v.kind, 1, -1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			s, err := within()
			if err != nil {
				return err
			}
			docs := make([]json.RawMessage, 0, len(args))
			for _, name := range args {
				a, err := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return send(ctx, s, name) })
				if err != nil {
					return err
				}
				docs = append(docs, a.body)
			}
			return several(p, v, docs)
		}),
	}
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
