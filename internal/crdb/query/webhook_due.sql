-- purpose: webhooks that are due, earliest due time first
-- index:   webhooks_due_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns webhook AS w,
    0::INT8 AS dead_letters
FROM webhooks AS w
WHERE w.region = $1 AND w.due_at <= $2 AND w.due_at IS NOT NULL
ORDER BY w.due_at
LIMIT $3
