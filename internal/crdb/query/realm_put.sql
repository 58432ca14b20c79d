-- purpose: store the state of a realm
-- index:   realms_pkey
-- rows:    1
-- locks:   the row
INSERT INTO realms (region, project_id, name, held_since, confirmed_until)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (region, project_id, name) DO UPDATE SET held_since = excluded.held_since, confirmed_until = excluded.confirmed_until
