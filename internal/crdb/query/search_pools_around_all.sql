-- purpose: pools of all projects whose block is one of the given blocks, smallest first, without reservations, labels and texts: for a platform admin
-- index:   pools_address_idx, projects_pkey
-- rows:    the limit for each block
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM unnest($1::BYTEA[], $2::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns pool_lean AS t
    FROM pools AS t
    WHERE t.plen = k.plen AND t.base = k.base
    LIMIT $3
) AS p
JOIN projects AS o ON o.id = p.project_id
ORDER BY p.plen DESC, o.name, p.name
LIMIT $3
