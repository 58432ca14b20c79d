-- purpose: record the times of the last use of sessions; a time never moves back, and deleted sessions are ignored
-- index:   sessions_pkey
-- rows:    one for each session
-- locks:   the rows
UPDATE sessions AS s
SET used_at = u.at
FROM unnest($1::BYTEA[], $2::TIMESTAMPTZ[]) AS u (hash, at)
WHERE s.hash = u.hash AND s.used_at < u.at
