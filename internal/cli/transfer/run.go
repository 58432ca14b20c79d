package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// run creates the missing items on the server.
type run struct {
	converge.Runner
	progress *converge.Progress
	mu       sync.Mutex // guards the items, because one batch may get its outcomes while another batch reads its items
}

func newRun(s *session.Session, parallel, total int) *run {
	return &run{Runner: converge.Runner{Session: s, Parallel: parallel}, progress: converge.NewProgress(s.Program, total)}
}

// create creates a plan's items. If the server refuses an item, create stores the refusal as the item's outcome and continues. It returns only errors
// that concern all requests.
func (r *run) create(ctx context.Context, p *plan) error {
	for _, level := range p.create {
		if err := r.Each(len(level), func(n int) error { return r.one(ctx, level[n]) }); err != nil {
			return err
		}
	}
	return r.Each(len(p.claims), func(n int) error { return r.batch(ctx, p.claims[n]) })
}

// size counts the items that create creates.
func (p *plan) size() (n int) {
	for _, level := range slices.Concat(p.create, p.claims) {
		n += len(level)
	}
	return n
}

// orphaned reports whether the pool that contains an item could not be created. Then it stores the refusal as the item's outcome, and counts the item.
func (r *run) orphaned(i *item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i.parent == nil || i.parent.onServer || slices.Contains([]string{outcomeCreated, outcomeSame, outcomeChange, outcomeChanged}, i.parent.outcome) {
		return false
	}
	i.end(outcomeRefused, "the pool around it, "+i.parent.name+", was not created")
	r.progress.Add(1)
	return true
}

func (r *run) settle(outcome, why string, items ...*item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := &ending{outcome, why}
	for _, i := range items {
		i.ending = all
	}
	r.progress.Add(len(items))
}

// results has an item's outcome after success, after a change by another client (empty for a creation), and after any other refusal.
type results struct{ done, stale, refused string }

// settleOne sets an item's outcome after its request. It returns an error that concerns all requests.
func (r *run) settleOne(i *item, err error, to results) error {
	refusal := converge.Decided(err)
	switch {
	case err == nil:
		r.settle(to.done, i.why, i)
	case refusal == nil:
		return err
	case to.stale != "" && refusal.Status == http.StatusPreconditionFailed:
		r.settle(to.stale, "it changed during this pass: the next pass compares it again", i)
	default:
		r.settle(to.refused, reason(refusal), i)
	}
	return nil
}

// one creates a space, a class or a pool.
func (r *run) one(ctx context.Context, i *item) error {
	if r.orphaned(i) {
		return nil
	}
	doc, err := i.document()
	if err != nil {
		r.settle(outcomeRefused, err.Error(), i)
		return nil
	}
	collection := show.Plural(i.kind)
	response, err := r.post(ctx, i.project(), collection, doc, 0)
	again := usedByAnother(err)
	if err == nil && response.Header.Get("Idempotency-Replayed") == "true" {
		// This is the stored response to the same request in an earlier import. The object may have been deleted after that.
		_, err = r.Ask(ctx, session.Get(i.path()...))
		again = exit.CodeOf(err) == exit.NotFound
	}
	if again {
		_, err = r.post(ctx, i.project(), collection, doc, r.Clock().UnixNano())
	}
	return r.settleOne(i, err, results{done: outcomeCreated, refused: outcomeRefused})
}

// usedByAnother reports whether another caller has used the key for the same request. The object that this caller created may have been deleted.
func usedByAnother(err error) bool {
	refusal := converge.Decided(err)
	return refusal != nil && refusal.Code == client.ProblemCodeIdempotencyMismatch
}

// batch creates claims with one request. If the server refuses the request, the refusal names the first refused claim. batch removes that claim and
// sends the other claims again.
func (r *run) batch(ctx context.Context, items []*item) error {
	salt := int64(0)
	left := slices.DeleteFunc(slices.Clone(items), r.orphaned)
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
		refusal := converge.Decided(err)
		switch {
		case err == nil:
			r.settle(outcomeCreated, "", left...)
			return nil
		case refusal == nil:
			return err
		case salt == 0 && (refusal.Code == client.ProblemCodeClaimReleased || usedByAnother(err)):
			salt = r.Clock().UnixNano() // an earlier import created these claims, and they were released after that
			continue
		}
		at, named := session.ItemOf(err, "claims")
		switch {
		case named && at < len(left):
		case len(left) == 1:
			at = 0
		default: // the refusal names no claim, so send one half after the other
			if err := r.batch(ctx, left[:len(left)/2]); err != nil {
				return err
			}
			left = left[len(left)/2:]
			continue
		}
		r.settle(outcomeRefused, reason(refusal), left[at])
		left = slices.Delete(left, at, at+1)
	}
	return nil
}

func reason(r *session.Refusal) string { return show.Clean(r.Detail) + " (" + string(r.Code) + ")" }

// post sends a body with a key that is computed from the body. If the user runs the same import again, it therefore sends the same requests.
func (r *run) post(ctx context.Context, project, collection string, doc any, salt int64) (session.Answer, error) {
	body, err := show.Marshal(doc)
	if err != nil {
		return session.Answer{}, err
	}
	request := session.Request{Method: http.MethodPost, Path: []string{"projects", project, collection}, Body: body}
	sum := sha256.Sum256(fmt.Appendf(nil, "ipamctl import\n%s/%s\n%d\n%s", project, collection, salt, body))
	key := hex.EncodeToString(sum[:24])
	return r.Patiently(ctx, func() (session.Answer, error) { return r.Keyed(ctx, key, request) })
}
