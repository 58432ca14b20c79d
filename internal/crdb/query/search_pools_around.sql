-- purpose: pools of given projects whose block is one of the given blocks, smallest first, without reservations, labels and texts; no row of another project is read
-- index:   pools_address_idx, projects_pkey
-- rows:    the limit for each project and block
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM unnest($1::UUID[]) AS w (project_id)
CROSS JOIN unnest($2::BYTEA[], $3::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns pool_lean AS t
    FROM pools AS t
    WHERE t.plen = k.plen AND t.base = k.base AND t.project_id = w.project_id
    LIMIT $4
) AS p
JOIN projects AS o ON o.id = p.project_id
ORDER BY p.plen DESC, o.name, p.name
LIMIT $4
