-- purpose: of how many realms of a project, but for one, something is stored that still means something
-- index:   realms_pkey
-- rows:    the project's realms in the region of which anything is stored: hardly any
-- locks:   none
SELECT count(*) AS realms
FROM realms
WHERE region = $1 AND project_id = $2 AND name <> $3 AND (held_since IS NOT NULL OR confirmed_until >= $4)
