-- purpose: delete some deliveries that were given up long ago
-- index:   deliveries_dead_idx, deliveries_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM deliveries
WHERE region = $1 AND (project_id, webhook_id, id) IN (
    SELECT d.project_id, d.webhook_id, d.id
    FROM deliveries AS d
    WHERE d.region = $1 AND d.dead_at < $2 AND d.dead_at IS NOT NULL
    ORDER BY d.dead_at
    LIMIT $3
)
