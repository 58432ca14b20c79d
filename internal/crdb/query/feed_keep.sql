-- purpose: record that events before a time are about to be deleted
-- index:   feed_pkey
-- rows:    1
-- locks:   the row
-- roles:   retention
UPDATE feed
SET kept_from = $1
WHERE id = 1 AND kept_from < $1
