-- purpose: have the webhooks that a server has be its own for longer
-- index:   webhooks_due_idx
-- rows:    those that it has
-- locks:   the rows
UPDATE webhooks
SET due_at = $4
WHERE region = $1 AND due_at > $2 AND due_at IS NOT NULL AND lease = $3
