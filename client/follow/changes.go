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

// Changes yields the changes after a cursor, one response at a time, and then waits for new changes. The function ask sends one request for changes.
// The server holds that request until a change happens.
//
// After a temporary error (no connection, a busy server) the sequence continues at the same cursor, with growing pauses of at most 30 s. A permanent
// refusal (no permission, a cursor that is too old) is its last element. If the context ends, the sequence ends without an error.
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

// patience computes the pauses after failures. The pauses grow with each consecutive failure.
type patience struct {
	failed int // consecutive failures
}

// wait pauses after a failure. It returns false if the context has ended, and the watch then ends too.
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

// Stays reports whether an error is a permanent refusal. A retry would get the same refusal again.
func Stays(err error) bool {
	problem, ok := client.AsProblem(err)
	return ok && problem.Status >= http.StatusBadRequest && problem.Status < http.StatusInternalServerError &&
		problem.Status != http.StatusTooManyRequests && problem.Status != http.StatusConflict
}
