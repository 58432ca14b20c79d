-- purpose: delete the secret that seals the cursors of the feed: changes after the restore do not continue those before it
-- index:   feed_pkey
-- rows:    1
-- locks:   the row
DELETE FROM feed
WHERE id = 1
