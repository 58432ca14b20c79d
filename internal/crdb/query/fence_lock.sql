-- purpose: let nobody else move the fence of a container before the transaction ends
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
SELECT f.id
FROM fences AS f
WHERE f.region = $1 AND f.id = $2
FOR UPDATE OF f
