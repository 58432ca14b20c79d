package alloc

import (
	"context"
	"encoding/json"
	"errors"
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
// a conflict (somebody else stored the key meanwhile) looks again. So does a refusal: when the same request is made twice
// at once, what the first one took may be the very thing that the second one is refused for. m is the metadata of what is created, so
// that a generated name which is taken is made anew; nil when there is no one name.
func once[T any](ctx context.Context, s *Service, projectID ipam.ID, r Request, m *ipam.Metadata, run func(ctx context.Context) (T, error)) (Result[T], error) {
	for range maxRounds {
		if answer, ok, err := replay[T](ctx, s, projectID, r); ok || err != nil {
			return answer, err
		}
		v, err := run(ctx)
		if _, conflict := asConflict(err); conflict {
			continue
		}
		if err != nil {
			if answer, ok, again := replay[T](ctx, s, projectID, r); ok && again == nil {
				return answer, nil
			}
		}
		if m != nil && nameTaken(err) && m.Rename() {
			continue
		}
		return Result[T]{Value: v}, err
	}
	return Result[T]{}, contention(nil)
}

// nameTaken reports whether it is the name that exists already, and not something else that there can be one of.
func nameTaken(err error) bool {
	e, ok := errors.AsType[*ipam.Error](err)
	return ok && e.Code == ipam.CodeAlreadyExists && len(e.Fields) > 0 && e.Fields[0].Pointer == "/metadata/name"
}

// replay answers what is stored for the request's key; ok is false when nothing is.
func replay[T any](ctx context.Context, s *Service, projectID ipam.ID, r Request) (answer Result[T], ok bool, err error) {
	if r.Key == "" {
		return answer, false, nil
	}
	a, ok, err := s.store.AnswerGet(ctx, projectID, r.Key, s.now())
	if err != nil || !ok {
		return answer, false, err
	}
	err = replayed(r, a, &answer.Value)
	answer.Replayed = err == nil
	return answer, true, err
}
