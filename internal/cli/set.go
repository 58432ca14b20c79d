package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"
)

// wordsForSet are what people say who look for `set`.
var wordsForSet = []string{"update", "edit", "patch", "change", "label"}

// set sends a merge patch of one thing and shows what became of it.
func set[T any](ctx context.Context, p *program, v view[T], within func() (*session, error), cmd *cobra.Command, m mergePatch, arg string,
	send func(ctx context.Context, r resource, doc []byte) (*http.Response, error),
) error {
	doc, err := m.json(cmd)
	if err != nil {
		return err
	}
	r, err := p.resource(within, arg)
	if err != nil {
		return err
	}
	a, err := r.patch(ctx, v.kind, func(ctx context.Context) (*http.Response, error) { return send(ctx, r, doc) })
	if err != nil {
		return err
	}
	return one(p, v, a.body)
}
