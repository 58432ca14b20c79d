-- purpose: one allocation by id that concerns a project, in any of some regions
-- index:   allocations_id_key
-- rows:    one probe for each region
-- locks:   none
SELECT a.region, a.project_id, a.container_id, a.base, a.plen, a.id, a.purpose, a.phase, a.pool_project, a.pool_name,
    a.holder_project_id, a.holder_project, a.holder_name, a.reclaim_policy, a.owner_ref, a.reason, a.since, a.revision, a.created_at, a.updated_at, a.created_by,
    a.class_id, a.class_project, a.class_name, a.cool_until
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT b.region, b.project_id, b.container_id, b.base, b.plen, b.id, b.purpose, b.phase, b.pool_project, b.pool_name,
        b.holder_project_id, b.holder_project, b.holder_name, b.reclaim_policy, b.owner_ref, b.reason, b.since, b.revision, b.created_at, b.updated_at, b.created_by,
        b.class_id, b.class_project, b.class_name, b.cool_until
    FROM allocations AS b
    WHERE b.region = r.region::crdb_internal_region AND b.id = $2 AND b.purpose <> 'RootPool' AND (b.project_id = $3 OR b.holder_project_id = $3)
    LIMIT 1
) AS a
