-- purpose: a project's pools whose block is one of the given blocks
-- index:   pools_address_idx, projects_pkey
-- rows:    the limit for each block
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM unnest($2::BYTEA[], $3::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT
        -- @columns pool AS c
    FROM pools AS c
    WHERE c.project_id = $1 AND c.base = k.base AND c.plen = k.plen
    LIMIT $4
) AS p
JOIN projects AS o ON o.id = p.project_id
LIMIT $4
