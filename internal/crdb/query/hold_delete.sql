-- purpose: release blocks at the revisions that were read, and return the ids of the deleted holds; a hold with another revision stays
-- index:   holds_id_key
-- rows:    one for each hold
-- locks:   the rows
-- shapes:  one, sure
DELETE FROM holds AS h
-- @using held_key FROM $2
WHERE h.region = $1 AND
    -- @match held_key AS h FROM $2
RETURNING h.id
