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

// StoredResponseLifetime is the time for which an idempotency key and its response are stored.
const StoredResponseLifetime = 24 * time.Hour

// DecodeReplay decodes the stored response for a request's key. It refuses a key that belongs to another request or another caller. It compares the
// caller with the creator in the stored response. The fingerprint does not contain the caller, because servers with other versions compute
// fingerprints too.
func DecodeReplay[T any](ctx context.Context, r Request, a storage.StoredResponse, decode func(storage.StoredResponse) (T, error)) (made T, err error) {
	if a.Fingerprint != r.Fingerprint {
		return made, ipam.Errorf(ipam.CodeIdempotencyMismatch,
			"This Idempotency-Key was used for another request within the last 24 hours. Use a new key for a new request.").
			At("header:Idempotency-Key", "belongs to a request with another operation, path or body, or to one with an API key that was replaced.")
	}
	if made, err = decode(a); err != nil {
		return made, ipam.Errorf(ipam.CodeInternal, "The stored response cannot be read.").WithCause(err)
	}
	if who, ok := tenancy.From(ctx); !ok || who.Subject != creatorOf(&made) {
		return made, ipam.Errorf(ipam.CodeIdempotencyMismatch,
			"This Idempotency-Key was used by another caller of the project within the last 24 hours. Use a new key.").
			At("header:Idempotency-Key", "belongs to another caller's request.")
	}
	return made, nil
}

// DecodeWhole decodes a response that StoredResponses has encoded.
func DecodeWhole[T any](a storage.StoredResponse) (made T, err error) {
	err = json.Unmarshal(a.Body, &made)
	return made, err
}

// creatorOf returns the creator that a stored response names.
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

// StoredResponses returns the response to store for a request with a key. The response contains the complete created object. Without a key,
// StoredResponses returns none.
func StoredResponses(projectID ipam.ID, r Request, now time.Time, value any) ([]storage.StoredResponse, error) {
	if !r.StoresResponse() {
		return nil, nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		return nil, ipam.Errorf(ipam.CodeInternal, "The response cannot be stored.").WithCause(err)
	}
	return []storage.StoredResponse{StoredResponse(projectID, r, now, body)}, nil
}

// StoredResponse returns the row that stores a response for a request with a key.
func StoredResponse(projectID ipam.ID, r Request, now time.Time, body []byte) storage.StoredResponse {
	return storage.StoredResponse{
		ProjectID: projectID, Key: r.Key, Fingerprint: r.Fingerprint, Body: body, CreatedAt: now, ExpiresAt: now.Add(StoredResponseLifetime),
	}
}

// RunIdempotent runs a create request that may have an idempotency key. If a response is stored for the key, it returns that response. After a
// conflict, it looks again, because another request may have stored the key meanwhile.
//
// It also looks again after a refusal. If two identical requests run at the same time, the first one may have taken the object that the second one
// needs.
//
// m is the new object's metadata. If a generated name is taken, RunIdempotent generates another one in m. If the request has no single name, m is
// nil. decode decodes a stored response.
func RunIdempotent[T any](ctx context.Context, s *Core, key storage.ProjectKey, r Request, m *ipam.Metadata,
	decode func(storage.StoredResponse) (T, error), run func(ctx context.Context) (T, error),
) (Result[T], error) {
	return Rounds(func(int) (none Result[T], again bool, err error) {
		if result, ok, err := replay(ctx, s, key, r, decode); ok || err != nil {
			return result, false, err
		}
		v, err := run(ctx)
		if _, conflict := storage.AsConflict(err); conflict {
			return none, true, nil
		}
		if err != nil {
			if result, ok, again := replay(ctx, s, key, r, decode); ok && (Settled(again) || ipam.IsCode(again, ipam.CodeOutcomeUnknown)) {
				return result, false, again
			}
		}
		if m != nil && NameTaken(err) && m.Rename() {
			return none, true, nil
		}
		return Result[T]{Value: v}, false, err
	})
}

// Settled reports whether a stored response settles the request. Then its objects were created, and perhaps released since.
func Settled(err error) bool { return err == nil || ipam.IsCode(err, ipam.CodeClaimReleased) }

// NameTaken reports whether an error means that the name exists already. Errors about other unique values do not count.
func NameTaken(err error) bool {
	e, ok := errors.AsType[*ipam.Error](err)
	return ok && e.Code == ipam.CodeAlreadyExists && len(e.Fields) > 0 && e.Fields[0].Pointer == "/metadata/name"
}

// replay returns the stored response for the request's key. If there is none, ok is false.
func replay[T any](ctx context.Context, s *Core, key storage.ProjectKey, r Request, decode func(storage.StoredResponse) (T, error)) (result Result[T], ok bool, err error) {
	if r.Key == "" {
		return result, false, nil
	}
	var refusal error
	err = s.Durably(ctx, func(ctx context.Context) (bool, error) {
		var a storage.StoredResponse
		result, refusal = Result[T]{}, nil
		if a, ok, err = s.Store.StoredResponseGet(ctx, key.ID, r.Key, s.Now()); err != nil || !ok {
			return false, err
		}
		value, err := DecodeReplay(ctx, r, a, decode)
		if claims, batch := any(value).([]ipam.Claim); batch && err == nil {
			err = s.StillHeld(ctx, claims)
		}
		switch {
		case !Settled(err):
			return false, err
		case err != nil:
			refusal = err
		default:
			result = Result[T]{Value: value, Replayed: true}
		}
		return true, nil
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		result = Result[T]{}
	}
	return result, ok, err
}
