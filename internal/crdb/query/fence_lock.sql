-- purpose: lock the fence of a container against changes by other transactions
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
SELECT f.id
FROM fences AS f
WHERE f.region = $1 AND f.id = $2
FOR UPDATE OF f
