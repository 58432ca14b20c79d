-- purpose: what some projects hold now in pools of other projects, in those pools that are one of some blocks, at an address or before it
-- index:   pools_address_idx, holds_pkey
-- rows:    the pools that have one of the blocks, up to a limit, and one probe of each in each region
-- locks:   none
-- The second half of a UNION answers nothing, ever: for it CockroachDB plans the first half anew for each row, and so reads no more than its limit.
SELECT
    -- @columns held AS a
FROM unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT c.id, c.project_id
    FROM pools AS c
    WHERE c.base = k.base AND c.plen = k.plen
    LIMIT $6
) AS p
CROSS JOIN unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    (
        SELECT
            -- @columns held AS b
        FROM holds AS b
        WHERE b.region = r.region::crdb_internal_region AND b.project_id = p.project_id AND b.container_id = p.id AND b.base <= $5
        ORDER BY b.base DESC
        LIMIT 1
    )
    UNION ALL
    (
        SELECT
            -- @columns held AS b
        FROM holds AS b
        WHERE k.plen < 0 AND b.region = r.region::crdb_internal_region AND b.project_id = p.project_id AND b.container_id = p.id
        ORDER BY b.base
        LIMIT 1
    )
) AS a
WHERE a.project_id <> ALL ($2::UUID[]) AND a.holder_project_id = ANY ($2::UUID[]) AND a.purpose = 'Claim' AND a.phase <> 'CoolingDown'
LIMIT $6
