-- purpose: delete the stored states of a project's realms that have no effect any more
-- index:   realms_pkey
-- rows:    mostly none
-- locks:   the rows
DELETE FROM realms
WHERE region = $1 AND project_id = $2 AND held_since IS NULL AND (confirmed_until IS NULL OR confirmed_until < $3)
