-- purpose: delete a webhook at the revision that was read
-- index:   webhooks_pkey
-- rows:    1
-- locks:   the row
DELETE FROM webhooks
WHERE region = $1 AND project_id = $2 AND name = $3 AND revision = $4
