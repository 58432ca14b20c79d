-- purpose: one allocation by id that concerns a project: it is in a pool of its own, or the project holds it
-- index:   allocations_id_key
-- rows:    1
-- locks:   none
SELECT a.region, a.project_id, a.container_id, a.base, a.plen, a.id, a.purpose, a.phase, a.pool_project, a.pool_name,
    a.holder_project_id, a.holder_project, a.holder_name, a.reclaim_policy, a.owner_ref, a.reason, a.since, a.revision, a.created_at, a.updated_at, a.created_by,
    a.class_id, a.class_project, a.class_name, a.cool_until
FROM allocations AS a
WHERE a.region = $1 AND a.id = $2 AND a.purpose <> 'RootPool' AND (a.project_id = $3 OR a.holder_project_id = $3)
