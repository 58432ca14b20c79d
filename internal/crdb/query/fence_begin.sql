-- purpose: create a project's fence in a region, unless it exists; servers cache data that the project's claims need under the fence's version (mark)
-- index:   fences_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO fences (region, id, mark, stock)
VALUES ($1, $2, $3, $4)
ON CONFLICT (region, id) DO NOTHING
