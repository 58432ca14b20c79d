package usecase

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// AnswerLifetime is how long an idempotency key is stored.
const AnswerLifetime = 24 * time.Hour

// Replayed decodes the stored answer for the request's key. It refuses a key that belongs to another request or another caller. It finds the caller
// in the answer and not in the fingerprint, because servers with other versions also compute fingerprints.
func Replayed[T any](ctx context.Context, r Request, a storage.Answer, read func(storage.Answer) (T, error)) (made T, err error) {
	if a.Fingerprint != r.Fingerprint {
		return made, ipam.Errorf(ipam.CodeIdempotencyMismatch,
			"This Idempotency-Key was used for another request within the last 24 hours. Use a new key for a new request.").
			At("header:Idempotency-Key", "belongs to a request with another operation, path or body, or to one with an API key that was replaced.")
	}
	if made, err = read(a); err != nil {
		return made, ipam.Errorf(ipam.CodeInternal, "The stored answer cannot be read.").Because(err)
	}
	if who, ok := tenancy.From(ctx); !ok || who.Subject != creatorOf(&made) {
		return made, ipam.Errorf(ipam.CodeIdempotencyMismatch,
			"This Idempotency-Key was used by another caller of the project within the last 24 hours. Use a new key.").
			At("header:Idempotency-Key", "belongs to another caller's request.")
	}
	return made, nil
}

// Whole decodes an answer that Answers has encoded.
func Whole[T any](a storage.Answer) (made T, err error) {
	err = json.Unmarshal(a.Body, &made)
	return made, err
}

// creatorOf returns the creator of the objects in a stored answer.
func creatorOf(out any) string {
	switch v := out.(type) {
	case interface{ Creator() string }:
		return v.Creator()
	case *[]ipam.Claim:
		if len(*v) > 0 {
			return (*v)[0].CreatedBy
		}
	}
	return ""
}

// Answers returns the row to store for a request with a key, with the complete created object. It returns none without a key.
func Answers(projectID ipam.ID, r Request, now time.Time, value any) ([]storage.Answer, error) {
	if !r.StoresAnswer() {
		return nil, nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		return nil, ipam.Errorf(ipam.CodeInternal, "The answer cannot be stored.").Because(err)
	}
	return []storage.Answer{Answer(projectID, r, now, body)}, nil
}

// Answer returns the row to store for a request with a key.
func Answer(projectID ipam.ID, r Request, now time.Time, body []byte) storage.Answer {
	return storage.Answer{
		ProjectID: projectID, Key: r.Key, Fingerprint: r.Fingerprint, Body: body, CreatedAt: now, ExpiresAt: now.Add(AnswerLifetime),
	}
}

// RunIdempotent runs a create that may have an idempotency key. It first returns the stored answer, if any. After a conflict (another request has stored the
// key meanwhile) it looks again. It also looks again after a refusal, because of two concurrent identical requests the first may have taken the very
// object that the second lacks. m is the metadata of the new object, so that RunIdempotent can replace a generated name that is taken; it is nil if the
// request has no single name. read decodes a stored answer.
func RunIdempotent[T any](ctx context.Context, s *Core, key storage.ProjectKey, r Request, m *ipam.Metadata,
	read func(storage.Answer) (T, error), run func(ctx context.Context) (T, error),
) (Result[T], error) {
	return Rounds(func(int) (none Result[T], again bool, err error) {
		if answer, ok, err := replay(ctx, s, key, r, read); ok || err != nil {
			return answer, false, err
		}
		v, err := run(ctx)
		if _, conflict := storage.AsConflict(err); conflict {
			return none, true, nil
		}
		if err != nil {
			if answer, ok, again := replay(ctx, s, key, r, read); ok && (Answered(again) || ipam.IsCode(again, ipam.CodeOutcomeUnknown)) {
				return answer, false, again
			}
		}
		if m != nil && NameTaken(err) && m.Rename() {
			return none, true, nil
		}
		return Result[T]{Value: v}, false, err
	})
}

// Answered reports whether a stored answer settles the request: the objects were created, or created and released.
func Answered(err error) bool { return err == nil || ipam.IsCode(err, ipam.CodeClaimReleased) }

// NameTaken reports whether the error is about an existing name, and not about another unique value.
func NameTaken(err error) bool {
	e, ok := errors.AsType[*ipam.Error](err)
	return ok && e.Code == ipam.CodeAlreadyExists && len(e.Fields) > 0 && e.Fields[0].Pointer == "/metadata/name"
}

// replay returns the stored answer for the request's key. ok is false if none exists.
func replay[T any](ctx context.Context, s *Core, key storage.ProjectKey, r Request, read func(storage.Answer) (T, error)) (answer Result[T], ok bool, err error) {
	if r.Key == "" {
		return answer, false, nil
	}
	var gone error
	err = s.Durably(ctx, func(ctx context.Context) (bool, error) {
		var a storage.Answer
		answer, gone = Result[T]{}, nil
		if a, ok, err = s.Store.AnswerGet(ctx, key.ID, r.Key, s.Now()); err != nil || !ok {
			return false, err
		}
		value, err := Replayed(ctx, r, a, read)
		if claims, batch := any(value).([]ipam.Claim); batch && err == nil {
			err = s.StillHeld(ctx, claims)
		}
		switch {
		case !Answered(err):
			return false, err
		case err != nil:
			gone = err
		default:
			answer = Result[T]{Value: value, Replayed: true}
		}
		return true, nil
	})
	if err == nil {
		err = gone
	}
	if err != nil {
		answer = Result[T]{}
	}
	return answer, ok, err
}
