-- purpose: the holds of some blocks in a project's pools that ended before a time, newest first, of some regions
-- index:   history_pkey
-- rows:    the page for each region and block
-- locks:   none
SELECT h.id, h.base, h.plen, h.until, h.since, h.pool_project, h.pool_name, h.purpose, h.phase, h.allocation_id, h.holder_project, h.holder_name
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::BYTEA[], $4::INT2[]) AS k (base, plen)
CROSS JOIN LATERAL (
    SELECT t.id, t.base, t.plen, t.until, t.since, t.pool_project, t.pool_name, t.purpose, t.phase, t.allocation_id, t.holder_project, t.holder_name
    FROM history AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.base = k.base AND t.plen = k.plen AND (t.until, t.id) < ($5, $6)
    ORDER BY t.until DESC, t.id DESC
    LIMIT $7
) AS h
ORDER BY h.until DESC, h.id DESC
LIMIT $7
