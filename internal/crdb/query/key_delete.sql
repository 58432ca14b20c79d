-- purpose: delete a key at the revision that was read
-- index:   api_keys_pkey
-- rows:    1
-- locks:   the row
DELETE FROM api_keys
WHERE id = $1 AND revision = $2
