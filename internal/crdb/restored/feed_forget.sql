-- purpose: forget what cursors of the feed are sealed with: what comes next does not follow from what came before the restore
-- index:   feed_pkey
-- rows:    1
-- locks:   the row
DELETE FROM feed
WHERE id = 1
