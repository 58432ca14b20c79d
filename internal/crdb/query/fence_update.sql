-- purpose: set new versions (marks) and stocks of containers whose marks are still those that were read
-- index:   fences_pkey
-- rows:    one for each container
-- locks:   the rows
-- shapes:  one, sure
UPDATE fences AS f
SET (mark, stock) = (
    -- @values fence_next FROM $4
)
-- @from fence_key, fence_next FROM $2
WHERE f.region = $1 AND
    -- @among fence_id AS f FROM $2
    AND
    -- @match fence_key AS f FROM $2
