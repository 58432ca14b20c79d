-- purpose: what a project holds now in pools of other projects, in those pools that are one of some blocks, at an address or before it
-- index:   pools_address_idx, allocations_pkey
-- rows:    the pools that have one of the blocks, up to a limit, and one probe of each in each region
-- locks:   none
SELECT a.region, a.project_id, a.container_id, a.base, a.plen, a.id, a.purpose, a.phase, a.pool_project, a.pool_name,
    a.holder_project_id, a.holder_project, a.holder_name, a.reclaim_policy, a.owner_ref, a.reason, a.since, a.revision, a.created_at, a.updated_at, a.created_by,
    a.class_id, a.class_project, a.class_name, a.cool_until
FROM unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT c.id, c.project_id
    FROM pools AS c
    WHERE c.base = k.base AND c.plen = k.plen
    LIMIT $6
) AS p
CROSS JOIN unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT b.region, b.project_id, b.container_id, b.base, b.plen, b.id, b.purpose, b.phase, b.pool_project, b.pool_name,
        b.holder_project_id, b.holder_project, b.holder_name, b.reclaim_policy, b.owner_ref, b.reason, b.since, b.revision, b.created_at, b.updated_at, b.created_by,
        b.class_id, b.class_project, b.class_name, b.cool_until
    FROM allocations AS b
    WHERE b.region = r.region::crdb_internal_region AND b.project_id = p.project_id AND b.container_id = p.id AND b.base <= $5
    ORDER BY b.base DESC
    LIMIT 1
) AS a
WHERE a.project_id <> $2 AND a.holder_project_id = $2 AND a.purpose = 'Claim' AND a.phase <> 'CoolingDown'
LIMIT $6
