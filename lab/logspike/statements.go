package logspike

// The kinds of entries.
const (
	kindLog  int16 = 0 // a log row: the changes of one group
	kindHold int16 = 1 // a held block
	kindEnd  int16 = 2 // the end of the hold with the same block and sequence number
	kindKey  int16 = 3 // the idempotency key of a hold that the sweeper has deleted
)

// Schema has two tables. The rows of a group have the same pool, so on CockroachDB they are usually in one range.
var Schema = []string{`
CREATE TABLE entries (
	pool     UUID        NOT NULL,
	kind     INT2        NOT NULL,
	block    BYTEA       NOT NULL, -- first address and length; empty for a log row
	seq      INT8        NOT NULL, -- of the log row; for the end of a hold, of the hold
	at       TIMESTAMPTZ NOT NULL,
	project  UUID,
	name     TEXT,                 -- of a hold
	key      TEXT,                 -- idempotency key of the request, in its first row
	digest   BYTEA,                -- of the request with the key
	group_id UUID,                 -- of a log row
	body     TEXT,                 -- of a log row: the changes; of a hold: its other values
	PRIMARY KEY (pool, kind, block, seq)
)`,
	`CREATE UNIQUE INDEX entries_name ON entries (project, name) WHERE name IS NOT NULL`,
	`CREATE UNIQUE INDEX entries_key ON entries (project, key) WHERE key IS NOT NULL`, `
CREATE TABLE pages (
	pool    UUID  NOT NULL,
	block   BYTEA NOT NULL, -- empty for the root page
	version INT8  NOT NULL, -- number of the snapshot
	seq     INT8  NOT NULL, -- of the last log row in the snapshot
	body    BYTEA NOT NULL,
	PRIMARY KEY (pool, block, version)
)`}

// PostgresSchema keeps log rows in the table itself. Otherwise PostgreSQL compresses rows of 2 kB and more, or moves them to a second table.
const PostgresSchema = `ALTER TABLE entries SET (toast_tuple_target = 8160)`

// entriesInsert writes the groups of one or several containers. It inserts nothing if a log row before a new one is missing. Then the server's cache is
// so old that the sweeper has deleted the log rows after it, and a free number proves nothing. As a scalar subquery, the read is one look-up for each log
// row: PostgreSQL would join all log rows.
const entriesInsert = `
INSERT INTO entries (pool, kind, block, seq, at, project, name, key, digest, group_id, body)
SELECT r.pool, r.kind, r.block, r.seq, now(), r.project, r.name, r.key, r.digest, CASE WHEN r.kind = 0 THEN $10::UUID END, r.body
FROM unnest($1::UUID[], $2::INT2[], $3::BYTEA[], $4::INT8[], $5::UUID[], $6::TEXT[], $7::TEXT[], $8::BYTEA[], $9::TEXT[])
	AS r (pool, kind, block, seq, project, name, key, digest, body)
WHERE NOT EXISTS (
	SELECT 1 FROM unnest($1::UUID[], $2::INT2[], $4::INT8[]) AS n (pool, kind, seq)
	WHERE n.kind = 0 AND n.seq > 1
		AND (SELECT l.seq FROM entries AS l WHERE l.pool = n.pool AND l.kind = 0 AND l.block = '' AND l.seq = n.seq - 1) IS NULL)`

const (
	tailList = `SELECT seq, body FROM entries WHERE pool = $1 AND kind = 0 AND block = '' AND seq > $2 ORDER BY seq`

	newestLog = `SELECT seq, body FROM entries WHERE pool = $1 AND kind = 0 AND block = '' ORDER BY seq DESC LIMIT 1`

	logGet = `SELECT group_id FROM entries WHERE pool = $1 AND kind = 0 AND block = '' AND seq = $2`

	// namesList lists the holds with these names. An ended hold keeps its name until the sweeper deletes it. Each name has its project beside it:
	// with one project for all, the generic plans of CockroachDB read every name of the project.
	namesList = `
SELECT h.name, h.pool, h.block, h.seq, ` + endOfHold + ` IS NOT NULL
FROM unnest($1::UUID[], $2::TEXT[]) AS n (project, name)
JOIN entries AS h ON h.project = n.project AND h.name = n.name AND h.name IS NOT NULL`

	// endOfHold finds the end of a hold by its key. As a scalar subquery, it is one look-up for each hold. PostgreSQL would join NOT EXISTS with all
	// ends of the pool.
	endOfHold = `(SELECT e.seq FROM entries AS e WHERE e.pool = h.pool AND e.kind = 2 AND e.block = h.block AND e.seq = h.seq)`

	// keysList lists the requests with these keys: the log row has their answer.
	keysList = `
SELECT k.key, k.digest, k.pool, k.block, k.seq, l.body
FROM unnest($1::UUID[], $2::TEXT[]) AS n (project, key)
JOIN entries AS k ON k.project = n.project AND k.key = n.key AND k.key IS NOT NULL
JOIN entries AS l ON l.pool = k.pool AND l.kind = 0 AND l.block = '' AND l.seq = k.seq`
)

const (
	rootGet = `SELECT version, body FROM pages WHERE pool = $1 AND block = '' ORDER BY version DESC LIMIT 1`

	// pagesGet gets all versions of these pages. There are one or two of each.
	pagesGet = `
SELECT p.block, p.version, p.body FROM unnest($1::UUID[], $2::BYTEA[]) AS n (pool, block) JOIN pages AS p ON p.pool = n.pool AND p.block = n.block`

	pagesInsert = `
INSERT INTO pages (pool, block, version, seq, body)
SELECT $1::UUID, r.block, r.version, $5::INT8, r.body FROM unnest($2::BYTEA[], $3::INT8[], $4::BYTEA[]) AS r (block, version, body)`

	pagesDelete = `
DELETE FROM pages AS p USING unnest($1::UUID[], $2::BYTEA[]) AS n (pool, block) WHERE p.pool = n.pool AND p.block = n.block AND p.version < $3`
)

const (
	endedList = `SELECT block, seq FROM entries WHERE pool = $1 AND kind = 2 ORDER BY block, seq LIMIT $2`

	// endedDelete deletes the ended holds of these blocks, and their ends.
	endedDelete = `
DELETE FROM entries AS e
USING unnest($1::UUID[], $2::INT2[], $3::BYTEA[], $4::INT8[]) AS d (pool, kind, block, seq)
WHERE e.pool = d.pool AND e.kind = d.kind AND e.block = d.block AND e.seq = d.seq
RETURNING e.block, e.seq, e.project, e.key, e.digest`

	keyInsert = `INSERT INTO entries (pool, kind, block, seq, at, project, key, digest) VALUES ($1, 3, $2, $3, now(), $4, $5, $6)`

	// logDelete deletes up to $4 log rows that two snapshots contain and that are older than $3. The row of the newest snapshot stays.
	logDelete = `
DELETE FROM entries WHERE pool = $1 AND kind = 0 AND block = '' AND seq <= $2 AND at < now() - $3::INTERVAL
	AND seq < $4 + (SELECT min(seq) FROM entries WHERE pool = $1 AND kind = 0 AND block = '')`

	coveredGet = `SELECT min(seq) FROM pages WHERE pool = $1 AND block = ''`
)

const (
	// poolList lists a page of a pool's holds by address.
	poolList = `
SELECT h.block, h.seq, h.name, h.body FROM entries AS h
WHERE h.pool = $1 AND h.kind = 1 AND (h.block, h.seq) > ($2, $3) AND ` + endOfHold + ` IS NULL
ORDER BY h.block, h.seq LIMIT $4`

	// projectList lists a page of a project's holds by name.
	projectList = `
SELECT h.name, h.pool, h.block, h.seq, h.body FROM entries AS h
WHERE h.project = $1 AND h.name > $2 AND h.name IS NOT NULL AND ` + endOfHold + ` IS NULL
ORDER BY h.name LIMIT $3`

	// addressGet gets the last hold that begins at or before an address. Holds of a pool are disjoint, so no other hold can contain the address.
	addressGet = `
SELECT h.block, h.seq, h.name, h.body FROM entries AS h
WHERE h.pool = $1 AND h.kind = 1 AND h.block <= $2 AND ` + endOfHold + ` IS NULL
ORDER BY h.block DESC, h.seq DESC LIMIT 1`
)
