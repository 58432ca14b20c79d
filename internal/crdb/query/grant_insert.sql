-- purpose: grant a pool or space to a consumer
-- index:   grants_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO grants (id, kind, subject_id, consumer, generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
