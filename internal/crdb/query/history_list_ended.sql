-- purpose: which allocations a project gave up when it released some claims, by the project of the pool, the block, the name and about when
-- index:   projects_name_key, history_pkey
-- rows:    mostly one for each claim, and the next after it, in each region; of one block what ended within a minute before
-- locks:   none
SELECT k.number, h.allocation_id
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::TEXT[], $4::BYTEA[], $5::INT2[], $6::TIMESTAMPTZ[], $7::TIMESTAMPTZ[], $8::TEXT[], $9::INT8[])
    AS k (project, base, plen, since, until, name, number)
JOIN projects AS o ON o.name = k.project
CROSS JOIN LATERAL (
    (
        SELECT t.allocation_id
        FROM history AS t
        WHERE t.region = r.region::crdb_internal_region AND t.project_id = o.id AND t.base = k.base AND t.plen = k.plen
            AND t.until >= k.since AND t.until <= k.until AND t.holder_project = $2 AND t.holder_name = k.name
        ORDER BY t.until DESC, t.id DESC
        LIMIT 1
    )
    UNION ALL
    (
        SELECT t.allocation_id
        FROM history AS t
        WHERE t.region = r.region::crdb_internal_region AND t.project_id = o.id AND t.base = k.base AND t.plen = k.plen
            AND t.until > k.until AND t.holder_project = $2 AND t.holder_name = k.name
        ORDER BY t.until, t.id
        LIMIT 1
    )
) AS h
