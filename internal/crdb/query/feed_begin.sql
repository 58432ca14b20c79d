-- purpose: create the secret that seals the cursors of the feed, unless it exists
-- index:   feed_pkey
-- rows:    1
-- locks:   the row
INSERT INTO feed (id, secret, kept_from)
VALUES (1, $1, $2)
ON CONFLICT (id) DO NOTHING
