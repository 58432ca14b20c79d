-- purpose: detach a consumer from a claim
-- index:   attachments_pkey
-- rows:    1
-- locks:   the row
DELETE FROM attachments
WHERE region = $1 AND project_id = $2 AND claim_id = $3 AND realm = $4 AND uid = $5
