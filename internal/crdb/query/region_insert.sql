-- purpose: write down that the database has a region, which a migration does that may run twice
-- index:   regions_pkey
-- rows:    1
-- locks:   the new row
-- roles:   owner
INSERT INTO regions (name, ordinal, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
