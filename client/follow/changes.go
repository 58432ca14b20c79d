package follow

import (
	"context"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/client"
)

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
)

// Changes tells what has changed since a cursor, and then what changes, answer by answer; ask is one request for it, which waits for a change.
//
// After an error that may pass (no connection, a server that is busy) it goes on where it was, with growing pauses of at most 30 s; a refusal that stays
// (no permission, a cursor that is too old) is the last it tells. It ends when the context does, without an error.
func Changes(
	ctx context.Context, after client.ChangesCursor, ask func(ctx context.Context, after client.ChangesCursor) (*client.ChangeList, error),
) iter.Seq2[*client.ChangeList, error] {
	return func(yield func(*client.ChangeList, error) bool) {
		var p patience
		for {
			list, err := ask(ctx, after)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				if !yield(nil, err) || Stays(err) || !p.wait(ctx) {
					return
				}
			default:
				p.failed, after = 0, list.Cursor
				if !yield(list, nil) {
					return
				}
			}
		}
	}
}

// patience is how long it is waited after what fails.
type patience struct {
	failed int // how often in a row
}

// wait waits after a failure; it reports whether it goes on.
func (p *patience) wait(ctx context.Context) bool {
	p.failed++
	pause := min(longestPause, firstPause<<min(p.failed-1, 10))
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // a pause is no secret
		return true
	}
}

// Stays reports whether an error is a refusal that will be the same at the next attempt: nothing comes after it.
func Stays(err error) bool {
	problem, ok := client.AsProblem(err)
	return ok && problem.Status >= http.StatusBadRequest && problem.Status < http.StatusInternalServerError &&
		problem.Status != http.StatusTooManyRequests && problem.Status != http.StatusConflict
}
