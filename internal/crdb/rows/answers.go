package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

type answerRow struct {
	storage.Answer
	fingerprint []byte
}

// Answers are stored answers; they are read without their key.
var Answers = kindOf(table[answerRow]{
	written(id("project_id", func(r *answerRow) *ipam.ID { return &r.ProjectID })),
	written(plain("key", func(r *answerRow) *string { return &r.Key })),
	raw("fingerprint", func(r *answerRow) *[]byte { return &r.fingerprint }),
	raw("answer", func(r *answerRow) *[]byte { return &r.Body }),
	moment("created_at", func(r *answerRow) *time.Time { return &r.CreatedAt }),
	moment("expires_at", func(r *answerRow) *time.Time { return &r.ExpiresAt }),
}, func(a storage.Answer, _ *documents) answerRow {
	return answerRow{Answer: a, fingerprint: slices.Clone(a.Fingerprint[:])}
}, func(r *answerRow) (storage.Answer, error) {
	copy(r.Fingerprint[:], r.fingerprint)
	return r.Answer, nil
})
