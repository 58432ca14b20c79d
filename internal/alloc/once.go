package alloc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AnswerLifetime is how long an idempotency key is kept.
const AnswerLifetime = 24 * time.Hour

// replayed decodes the stored answer of the request's key into out. It refuses a key that was used for another request.
func replayed(r Request, a Answer, out any) error {
	if a.Fingerprint != r.Fingerprint {
		return ipam.Errorf(ipam.CodeIdempotencyMismatch,
			"This Idempotency-Key was used for another request within the last 24 hours. Use a new key for a new request.").
			At("header:Idempotency-Key", "belongs to a request with another operation, path or body.")
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return ipam.Errorf(ipam.CodeInternal, "The stored answer cannot be read.").Because(err)
	}
	return nil
}

// answers is the row to store for a request with a key; none without.
func answers(projectID ipam.ID, r Request, now time.Time, value any) ([]Answer, error) {
	if r.Key == "" || r.DryRun {
		return nil, nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		return nil, ipam.Errorf(ipam.CodeInternal, "The answer cannot be stored.").Because(err)
	}
	return []Answer{{
		ProjectID: projectID, Key: r.Key, Fingerprint: r.Fingerprint, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(AnswerLifetime),
	}}, nil
}

// once runs a create that may carry an idempotency key: the stored answer comes first, before anything is looked for;
// a conflict (somebody else stored the key meanwhile) looks again.
func once[T any](ctx context.Context, s *Service, projectID ipam.ID, r Request, run func(ctx context.Context) (T, error)) (Result[T], error) {
	for range maxRounds {
		if r.Key != "" {
			a, ok, err := s.store.AnswerGet(ctx, projectID, r.Key, s.now())
			if err != nil {
				return Result[T]{}, err
			}
			if ok {
				var v T
				err := replayed(r, a, &v)
				return Result[T]{Value: v, Replayed: err == nil}, err
			}
		}
		v, err := run(ctx)
		if _, conflict := asConflict(err); conflict {
			continue
		}
		return Result[T]{Value: v}, err
	}
	return Result[T]{}, contention(nil)
}
