-- purpose: delete deliveries that were given up long ago
-- index:   deliveries_dead_idx
-- rows:    those that became so old since it was done last; at most 100 of a webhook
-- locks:   the rows
DELETE FROM deliveries
WHERE region = $1 AND dead_at < $2 AND dead_at IS NOT NULL AND attempts > 0
