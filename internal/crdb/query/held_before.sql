-- purpose: where the last block begins that is held in a container at or before an address: if any holds the address, it is this one
-- index:   holds_pkey
-- rows:    1
-- locks:   none
SELECT base
FROM holds
WHERE region = $1 AND project_id = $2 AND container_id = $3 AND base <= $4
ORDER BY base DESC
LIMIT 1
