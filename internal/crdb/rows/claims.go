package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

type claimRow struct {
	ipam.Claim
	metadata
	held
	spec       string
	said       bool
	reuseAfter int64
}

// Claims are read without their project.
var Claims = kindOf(slices.Concat(
	recordColumns(func(r *claimRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *claimRow) *ipam.Metadata { return &r.Metadata }, func(r *claimRow) *metadata { return &r.metadata }),
	heldColumns(func(r *claimRow) *held { return &r.held }),
	refColumns("pool_project", "pool_name", func(r *claimRow) *ipam.Ref { return &r.Pool }),
	classColumns(func(r *claimRow) *ipam.ClassRef { return &r.Class }),
	table[claimRow]{
		plain("name", func(r *claimRow) *string { return &r.Name }),
		plain("region", func(r *claimRow) *string { return &r.Region }),
		written(id("project_id", func(r *claimRow) *ipam.ID { return &r.ProjectID })),
		id("pool_id", func(r *claimRow) *ipam.ID { return &r.PoolID }),
		id("pool_project_id", func(r *claimRow) *ipam.ID { return &r.PoolProjectID }),
		id("allocation_id", func(r *claimRow) *ipam.ID { return &r.AllocationID }),
		document("spec", func(r *claimRow) *ipam.ClaimSpec { return &r.Spec }, func(r *claimRow) *string { return &r.spec }),
		plain("reclaim_said", func(r *claimRow) *bool { return &r.said }),
		plain("reuse_after_seconds", func(r *claimRow) *int64 { return &r.reuseAfter }),
	},
), func(c ipam.Claim, d *documents) claimRow {
	r := claimRow{Claim: c, metadata: d.metadata(c.Metadata), held: heldIn(c.Block), said: c.Spec.ReclaimPolicy != "", reuseAfter: seconds(c.ReuseAfter)}
	c.Spec.ReclaimPolicy = c.ReclaimPolicy // what came of it is stored there; reclaim_said tells whether the caller wrote it
	r.spec = d.of(c.Spec)
	return r
}, func(r *claimRow) (c ipam.Claim, err error) {
	normalize(&r.Metadata)
	r.ReuseAfter = time.Duration(r.reuseAfter) * time.Second
	if r.ReclaimPolicy = r.Spec.ReclaimPolicy; !r.said {
		r.Spec.ReclaimPolicy = ""
	}
	r.Block, err = r.block()
	return r.Claim, err
})

// ClaimKeys are claims as they are named, at a revision.
var ClaimKeys = kindOf(table[ipam.Claim]{
	id("project_id", func(c *ipam.Claim) *ipam.ID { return &c.ProjectID }),
	plain("name", func(c *ipam.Claim) *string { return &c.Name }),
	id("revision", func(c *ipam.Claim) *ipam.ID { return &c.Revision }),
}, asItIs, asRead)

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
