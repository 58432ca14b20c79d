-- purpose: replace the mutable columns of a consumer at the revision that was read
-- index:   consumers_pkey
-- rows:    1
-- locks:   the row
UPDATE consumers
SET
    -- @set consumer_state FROM $6
WHERE region = $1 AND project_id = $2 AND realm = $3 AND uid = $4 AND revision = $5
