-- purpose: a fence for a project in a region, if it has none: what its claims there depend on is remembered under its mark
-- index:   fences_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO fences (region, id, mark, stock)
VALUES ($1, $2, $3, $4)
ON CONFLICT (region, id) DO NOTHING
