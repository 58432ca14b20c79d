-- purpose: delete all stored answers of a project, with the project
-- index:   idempotency_keys_pkey
-- rows:    the project's keys of the last 24 hours
-- locks:   the rows
DELETE FROM idempotency_keys
WHERE region = $1 AND project_id = $2
