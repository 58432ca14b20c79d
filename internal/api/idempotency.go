package api

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// creation is the request part of a POST. The fingerprint is that of the typed body, so that white space, the order of
// members and how a number or character was written make no other request of the same one; a generated name is not
// in it, since a repeat would generate another. The fingerprint contains the id of the caller's API key, so that a later key of the same name repeats nothing.
func creation(by tenancy.Principal, operationID, path string, body any, key *string, dryRun *bool) (usecase.Request, error) {
	r := usecase.Request{Key: codec.Or(key, ""), DryRun: codec.Or(dryRun, false)}
	if r.Key == "" {
		return r, nil
	}
	canonical, err := json.Marshal(body)
	if err != nil {
		return r, ipam.Errorf(ipam.CodeInternal, "The request cannot be fingerprinted.").Because(err)
	}
	text := make([]byte, 0, 1024)
	for _, part := range []string{operationID, "\n", path, "\n", by.Key.String(), "\n"} { // none of them has line ends
		text = append(text, part...)
	}
	sum := sha256.Sum256(append(text, canonical...))
	copy(r.Fingerprint[:], sum[:]) // half of it: nobody meets it by accident, and what a caller could contrive is for itself
	return r, nil
}
