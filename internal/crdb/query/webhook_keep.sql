-- purpose: extend the leases of webhooks that a server has
-- index:   webhooks_lease_idx
-- rows:    one for each webhook
-- locks:   the rows
UPDATE webhooks
SET due_at = $4
WHERE region = $1 AND lease = $2 AND lease IS NOT NULL AND id = ANY ($3)
