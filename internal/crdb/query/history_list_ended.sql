-- purpose: which allocations a project gave up when it released some claims, by the project of the pool, the block, the time and the name
-- index:   projects_name_key, history_pkey
-- rows:    one for each claim; the first that ended at the time or after it, in each region
-- locks:   none
SELECT k.name, h.allocation_id
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::TEXT[], $4::BYTEA[], $5::INT2[], $6::TIMESTAMPTZ[], $7::TEXT[]) AS k (project, base, plen, until, name)
JOIN projects AS o ON o.name = k.project
CROSS JOIN LATERAL (
    SELECT t.allocation_id
    FROM history AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = o.id AND t.base = k.base AND t.plen = k.plen AND t.until >= k.until
        AND t.holder_project = $2 AND t.holder_name = k.name
    ORDER BY t.until, t.id
    LIMIT 1
) AS h
