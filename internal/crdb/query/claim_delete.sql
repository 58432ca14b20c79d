-- purpose: delete claims at the revisions that were read; those that are not as read are left out of the answer
-- index:   claims_pkey
-- rows:    one for each claim
-- locks:   the rows
DELETE FROM claims AS c
USING unnest($2::UUID[], $3::TEXT[], $4::UUID[]) AS k (project_id, name, revision)
WHERE c.region = $1 AND c.project_id = k.project_id AND c.name = k.name AND c.revision = k.revision
RETURNING c.project_id, c.name
