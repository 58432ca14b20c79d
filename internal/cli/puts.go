package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// replacing are the flags of a put that may replace.
type replacing struct {
	writing
	ifMatch string
}

func (r *replacing) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&r.dryRun, "dry-run", false, "answer as if it were done, and write nothing")
	f.StringVar(&r.ifMatch, "if-match", "", "replace only this revision: the `ETAG`, metadata.revision in double quotes")
}

// match is the header, absent unless it is asked for.
func (r replacing) match() *client.ReplaceIfMatch {
	return optional[client.ReplaceIfMatch](r.ifMatch)
}

// put sends a PUT that creates or replaces. One whose outcome is not known can be said again: it says how things are to be.
func (s *session) put(ctx context.Context, send func(ctx context.Context) (*http.Response, error)) (answer, error) {
	a, err := s.ask(ctx, send)
	if err != nil {
		return answer{}, err
	}
	s.remarkOn(a)
	return a, nil
}
