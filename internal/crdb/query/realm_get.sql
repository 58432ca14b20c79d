-- purpose: the stored state of a realm
-- index:   realms_pkey
-- rows:    1 or none
-- locks:   none
SELECT held_since, confirmed_until
FROM realms
WHERE region = $1 AND project_id = $2 AND name = $3
