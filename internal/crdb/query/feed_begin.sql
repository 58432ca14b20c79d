-- purpose: make what cursors of the feed are sealed with, unless it is there
-- index:   feed_pkey
-- rows:    1
-- locks:   the row
INSERT INTO feed (id, secret, kept_from)
VALUES (1, $1, $2)
ON CONFLICT (id) DO NOTHING
