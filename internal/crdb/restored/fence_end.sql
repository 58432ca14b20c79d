-- purpose: delete the fences that belong to no container, those of projects included
-- index:   none: all rows, once
-- rows:    all
-- locks:   the rows
-- region:  every, because the whole database was restored
DELETE FROM fences AS f
WHERE NOT EXISTS (SELECT 1 FROM unnest($1::TEXT[], $2::UUID[]) AS k (region, id) WHERE k.region = f.region::TEXT AND k.id = f.id)
