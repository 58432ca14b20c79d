-- purpose: have webhooks that a server has be its own for longer
-- index:   webhooks_lease_idx
-- rows:    those that are named
-- locks:   the rows
UPDATE webhooks
SET due_at = $4
WHERE region = $1 AND lease = $2 AND lease IS NOT NULL AND id = ANY ($3)
