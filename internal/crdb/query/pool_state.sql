-- purpose: the revision of a pool, the time since which it has been empty (not part of the revision), and its fence in a region, to check what a server has cached
-- index:   pools_pkey, fences_pkey
-- rows:    1
-- locks:   none
SELECT p.revision, p.empty_since, f.mark, f.stock
FROM pools AS p
LEFT JOIN LATERAL (
    SELECT b.mark, b.stock
    FROM fences AS b
    WHERE b.region = $2 AND b.id = p.id
    LIMIT 1
) AS f ON true
WHERE p.id = $1
