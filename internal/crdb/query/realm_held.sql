-- purpose: the realms in which nobody is ended for having expired
-- index:   realms_pkey
-- rows:    those that were ever held: hardly any
-- locks:   none
SELECT project_id, name
FROM realms
WHERE region = $1 AND project_id > $2 AND held_since IS NOT NULL
ORDER BY project_id, name
LIMIT $3
