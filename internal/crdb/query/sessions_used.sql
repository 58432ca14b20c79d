-- purpose: note when sessions were last used, never backwards; sessions that are gone are left out
-- index:   sessions_pkey
-- rows:    one for each session
-- locks:   the rows
UPDATE sessions AS s
SET used_at = u.at
FROM unnest($1::BYTEA[], $2::TIMESTAMPTZ[]) AS u (hash, at)
WHERE s.hash = u.hash AND s.used_at < u.at
