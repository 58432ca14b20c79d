-- purpose: count the other realms of a project whose stored state has an effect
-- index:   realms_pkey
-- rows:    the stored states of the project's realms in the region: mostly none
-- locks:   none
SELECT count(*) AS realms
FROM realms
WHERE region = $1 AND project_id = $2 AND name <> $3 AND (held_since IS NOT NULL OR confirmed_until >= $4)
