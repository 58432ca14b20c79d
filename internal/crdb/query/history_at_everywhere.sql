-- purpose: the holds of some blocks in a project's pools that had begun at a time and ended after it, of some regions
-- index:   history_pkey
-- rows:    of each region and block the first 1,000 holds that ended after the time: in one pool the first is the one
-- locks:   none
SELECT h.id, h.base, h.plen, h.until, h.since, h.pool_project, h.pool_name, h.purpose, h.phase, h.allocation_id, h.holder_project, h.holder_name
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT t.id, t.base, t.plen, t.until, t.since, t.pool_project, t.pool_name, t.purpose, t.phase, t.allocation_id, t.holder_project, t.holder_name
    FROM history AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.base = k.base AND t.plen = k.plen AND t.until > $5
    ORDER BY t.until, t.id
    LIMIT 1000
) AS h
WHERE h.since <= $5
LIMIT $6
