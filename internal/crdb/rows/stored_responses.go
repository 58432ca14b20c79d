package rows

import (
	"crypto/sha256"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

type storedResponseRow struct {
	storage.StoredResponse
	key ipam.ID
}

// IdempotencyKey returns the hash that is stored instead of a key, because a key may be long and is never read back.
func IdempotencyKey(key string) ipam.ID { return hashOf(key) }

func hashOf(text string) ipam.ID {
	sum := sha256.Sum256([]byte(text))
	return ipam.ID(sum[:len(ipam.ID{})])
}

// StoredResponses maps stored responses to rows. A response that is read lacks its key.
var StoredResponses = kindOf(table[storedResponseRow]{
	writeOnly(id("project_id", func(r *storedResponseRow) *ipam.ID { return &r.ProjectID })),
	writeOnly(id("key", func(r *storedResponseRow) *ipam.ID { return &r.key })),
	id("fingerprint", func(r *storedResponseRow) *ipam.ID { return (*ipam.ID)(&r.Fingerprint) }),
	moment("expires_at", func(r *storedResponseRow) *time.Time { return &r.ExpiresAt }),
	raw("answer", func(r *storedResponseRow) *[]byte { return &r.Body }),
}, func(a storage.StoredResponse, _ *documents) storedResponseRow {
	return storedResponseRow{StoredResponse: a, key: IdempotencyKey(a.Key)}
}, func(r *storedResponseRow) (storage.StoredResponse, error) {
	return r.StoredResponse, nil
})
