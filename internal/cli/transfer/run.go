package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// run creates the missing items on the server.
type run struct {
	*session.Session
	plan     *plan
	parallel int
	progress *progress
	mu       sync.Mutex // guards the items, because one batch may get its outcomes while another batch reads its items
	again    sync.Mutex // held during retries after a 429, so that only one request retries at a time; each attempt uses up the caller's rate limit
}

// do carries out the plan. If the server refuses an item, do stores the refusal as the item's outcome and continues. It returns an error only if the
// server no longer responds.
func (r *run) do(ctx context.Context) error {
	for _, level := range r.plan.create {
		err := r.each(ctx, len(level), func(ctx context.Context, n int) error { return r.one(ctx, level[n]) })
		if err != nil {
			return err
		}
	}
	return r.each(ctx, len(r.plan.claims), func(ctx context.Context, n int) error { return r.batch(ctx, r.plan.claims[n]) })
}

func (r *run) each(ctx context.Context, n int, do func(ctx context.Context, n int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.parallel)
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(ctx, i)
		})
	}
	return g.Wait()
}

// orphaned reports whether the pool that contains an item could not be created.
func (r *run) orphaned(i *item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i.parent == nil || i.parent.onServer || i.parent.outcome == outcomeCreated || i.parent.outcome == outcomeSame ||
		i.parent.outcome == outcomeChange || i.parent.outcome == outcomeChanged {
		return false
	}
	i.end(outcomeRefused, "the pool around it, "+i.parent.name+", was not created")
	return true
}

func (r *run) settle(items []*item, outcome, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := &ending{outcome, why}
	for _, i := range items {
		i.ending = all
	}
	r.progress.add(len(items))
}

// one creates a space, a class, a pool or a claim.
func (r *run) one(ctx context.Context, i *item) error {
	if r.orphaned(i) {
		r.progress.add(1)
		return nil
	}
	collection, doc, err := i.document()
	if err != nil {
		r.settle([]*item{i}, outcomeRefused, err.Error())
		return nil
	}
	answer, err := r.post(ctx, i.project(), collection, doc, 0)
	if refusal, ok := errors.AsType[*session.Refusal](err); ok && usedByAnother(refusal) {
		_, err = r.post(ctx, i.project(), collection, doc, r.Clock().UnixNano())
	} else if err == nil && answer.Header.Get("Idempotency-Replayed") == "true" {
		// This is the stored response to the same request of an earlier import. The object may have been deleted after that.
		if _, err = r.Ask(ctx, session.Get("projects", i.project(), collection, i.name)); exit.CodeOf(err) == exit.NotFound {
			_, err = r.post(ctx, i.project(), collection, doc, r.Clock().UnixNano())
		}
	}
	refusal, refused := errors.AsType[*session.Refusal](err)
	switch {
	case err == nil:
		r.settle([]*item{i}, outcomeCreated, "")
	case refused && exit.CodeOf(err) != exit.Unavailable && refusal.Status != http.StatusUnauthorized:
		r.settle([]*item{i}, outcomeRefused, reason(refusal))
	default:
		return err
	}
	return nil
}

// usedByAnother reports whether another caller has used the key for the same request. The object that this caller created may have been deleted.
func usedByAnother(refusal *session.Refusal) bool {
	return refusal.Code == client.ProblemCodeIdempotencyMismatch
}

// batch creates claims with one request. If the server refuses, it names the first claim that it refuses. batch removes that claim and sends the
// other claims again.
func (r *run) batch(ctx context.Context, items []*item) error {
	salt := int64(0)
	var left []*item
	for _, i := range items {
		if r.orphaned(i) {
			r.progress.add(1)
			continue
		}
		left = append(left, i)
	}
	for len(left) > 0 {
		body := client.ClaimBatchCreate{}
		for _, i := range left {
			doc, err := i.claimDocument()
			if err != nil {
				return err
			}
			body.Claims = append(body.Claims, doc)
		}
		_, err := r.post(ctx, left[0].project(), "claim-batches", body, salt)
		refusal, refused := errors.AsType[*session.Refusal](err)
		switch {
		case err == nil:
			r.settle(left, outcomeCreated, "")
			return nil
		case !refused || exit.CodeOf(err) == exit.Unavailable || refusal.Status == http.StatusUnauthorized:
			return err
		case salt == 0 && (refusal.Code == client.ProblemCodeClaimReleased || usedByAnother(refusal)):
			salt = r.Clock().UnixNano() // an earlier import created these claims, and they were released after that
			continue
		}
		at := namedIn(refusal, len(left))
		if at < 0 {
			if len(left) == 1 {
				at = 0
			} else { // the refusal names no claim, so send one half after the other
				if err := r.batch(ctx, left[:len(left)/2]); err != nil {
					return err
				}
				left = left[len(left)/2:]
				continue
			}
		}
		r.settle(left[at:at+1], outcomeRefused, reason(refusal))
		left = append(append([]*item{}, left[:at]...), left[at+1:]...)
	}
	return nil
}

var claimPointer = regexp.MustCompile(`^/claims/(\d+)(/|$)`)

// namedIn returns the index of the claim that a refusal names. If it names none, namedIn returns -1.
func namedIn(r *session.Refusal, of int) int {
	for _, f := range r.Errors {
		if m := claimPointer.FindStringSubmatch(f.Pointer); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n < of {
				return n
			}
		}
	}
	return -1
}

func reason(r *session.Refusal) string { return show.Clean(r.Detail) + " (" + string(r.Code) + ")" }

// post sends a body with a key that is computed from the body. If the user runs the same import again, it therefore sends the same requests.
func (r *run) post(ctx context.Context, project, collection string, doc any, salt int64) (session.Answer, error) {
	body, err := show.Marshal(doc)
	if err != nil {
		return session.Answer{}, err
	}
	request := session.Request{Method: http.MethodPost, Path: []string{"projects", project, collection}, Body: body}
	key := keyOf(project, collection, body, salt)
	return r.sendWithRetry(ctx, func() (session.Answer, error) { return r.Keyed(ctx, key, request) })
}

// sendWithRetry sends a request and retries it. If the server is overloaded, it waits as long as the server asks, any number of times. If the server
// does not respond, it stops after a minute.
func (r *run) sendWithRetry(ctx context.Context, send func() (session.Answer, error)) (session.Answer, error) {
	const (
		firstPause   = 250 * time.Millisecond
		longestPause = 5 * time.Second
		patience     = 60 * time.Second
	)
	pause, waited := firstPause, time.Duration(0)
	var alone func() // releases the lock that makes other retries wait; nil if the lock is not held
	defer func() {
		if alone != nil {
			alone()
		}
	}()
	for {
		answer, err := send()
		refusal, refused := errors.AsType[*session.Refusal](err)
		busy := refused && refusal.Status == http.StatusTooManyRequests
		if err == nil || ctx.Err() != nil || exit.CodeOf(err) != exit.Unavailable || !busy && waited >= patience {
			return answer, err
		}
		if busy { // the server responds, and asks for a pause
			pause, waited = firstPause, 0
			if alone == nil {
				r.again.Lock()
				alone = r.again.Unlock
			}
		}
		wait := pause
		if busy {
			wait = max(wait, refusal.RetryAfter())
		}
		if err := r.Pause(ctx, wait); err != nil {
			return answer, err
		}
		waited, pause = waited+wait, min(2*pause, longestPause)
	}
}

func keyOf(project, collection string, body []byte, salt int64) string {
	h := sha256.New()
	h.Write([]byte("ipamctl import\n" + project + "/" + collection + "\n" + strconv.FormatInt(salt, 10) + "\n"))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))[:48]
}
