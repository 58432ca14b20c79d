package rows

import (
	"crypto/sha256"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

type answerRow struct {
	storage.Answer
	key ipam.ID
}

// AnswerKey returns the stored form of an idempotency key. It is a hash, because a key may be long and is never read back.
func AnswerKey(key string) ipam.ID {
	sum := sha256.Sum256([]byte(key))
	return ipam.ID(sum[:len(ipam.ID{})])
}

// Answers maps stored responses to rows. A response that is read lacks its key.
var Answers = kindOf(table[answerRow]{
	written(id("project_id", func(r *answerRow) *ipam.ID { return &r.ProjectID })),
	written(id("key", func(r *answerRow) *ipam.ID { return &r.key })),
	id("fingerprint", func(r *answerRow) *ipam.ID { return (*ipam.ID)(&r.Fingerprint) }),
	moment("expires_at", func(r *answerRow) *time.Time { return &r.ExpiresAt }),
	raw("answer", func(r *answerRow) *[]byte { return &r.Body }),
}, func(a storage.Answer, _ *documents) answerRow {
	return answerRow{Answer: a, key: AnswerKey(a.Key)}
}, func(r *answerRow) (storage.Answer, error) {
	return r.Answer, nil
})
