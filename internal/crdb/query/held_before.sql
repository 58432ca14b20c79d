-- purpose: the base of the last held block in a container that begins at or before an address: only this block can contain the address
-- index:   holds_pkey
-- rows:    1
-- locks:   none
SELECT base
FROM holds
WHERE region = $1 AND project_id = $2 AND container_id = $3 AND base <= $4
ORDER BY base DESC
LIMIT 1
