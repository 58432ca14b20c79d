-- purpose: delete old failed deliveries
-- index:   deliveries_dead_idx
-- rows:    the failed deliveries that have become too old since the last run, at most 100 for each webhook
-- locks:   the rows
DELETE FROM deliveries
WHERE region = $1 AND dead_at < $2 AND dead_at IS NOT NULL AND attempts > 0
