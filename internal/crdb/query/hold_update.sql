-- purpose: replace the mutable columns of a hold at the revision that was read
-- index:   holds_id_key
-- rows:    1
-- locks:   the row
-- shapes:  sure
UPDATE holds
SET
    -- @set held_rule FROM $4
WHERE region = $1 AND id = $2 AND revision = $3
