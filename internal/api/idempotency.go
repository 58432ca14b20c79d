package api

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// creation returns a POST's idempotency key, fingerprint and dry-run flag. The server compares the fingerprint to recognize a repeated request.
//
// The fingerprint covers the decoded body. So white space, member order and the spelling of numbers or characters do not change it. It excludes a
// generated name, because a retry would generate another one. It includes the caller's key id, so that a later key with the same name cannot replay
// the request.
func creation(by tenancy.Principal, operationID, path string, body any, key *string, dryRun *bool) (usecase.Request, error) {
	r := usecase.Request{Key: value(key), DryRun: value(dryRun)}
	if r.Key == "" {
		return r, nil
	}
	canonical, err := json.Marshal(body)
	if err != nil {
		return r, ipam.Errorf(ipam.CodeInternal, "The server cannot compare this request with earlier ones of its Idempotency-Key. Report the traceId, or repeat the request without this header.").
			At("header:Idempotency-Key", "cannot be used for this request; leave it out.").WithCause(err)
	}
	text := make([]byte, 0, 1024)
	for _, part := range []string{operationID, "\n", path, "\n", by.Key.String(), "\n"} { // no part contains a line end
		text = append(text, part...)
	}
	sum := sha256.Sum256(append(text, canonical...))
	copy(r.Fingerprint[:], sum[:]) // half of the sum is enough: an accidental collision is improbable, and a deliberate collision harms only its author
	return r, nil
}
