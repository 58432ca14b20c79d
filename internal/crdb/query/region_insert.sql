-- purpose: record a region of the database; a migration that runs twice changes nothing
-- index:   regions_pkey
-- rows:    1
-- locks:   the new row
-- roles:   owner
INSERT INTO regions (name, ordinal, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
