-- purpose: stop all webhooks, because the original database may still be sending
-- index:   none: all rows, once
-- rows:    all
-- locks:   the rows
-- region:  every, because the whole database was restored
UPDATE webhooks
SET stopped = $1, due_at = NULL, lease = NULL
WHERE stopped <> $1
