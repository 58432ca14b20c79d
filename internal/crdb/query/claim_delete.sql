-- purpose: delete claims at the revisions that were read; those that are not as read are left out of the answer
-- index:   claims_pkey
-- rows:    one for each claim
-- locks:   the rows
-- shapes:  one
DELETE FROM claims AS c
-- @using claim_key FROM $2
WHERE c.region = $1 AND
    -- @match claim_key AS c FROM $2
RETURNING c.project_id, c.name
