package sqlcheck

import (
	"os"
	"slices"
	"testing"
)

// A trial has statements that a rule must flag, and others that it must accept. A good statement passes every rule of its list.
type trial struct {
	bad  []string
	good []string
}

var trialsOfEveryStatement = map[string]trial{
	"function": {
		bad: []string{
			"SELECT pg_advisory_xact_lock($1::INT8)", "SELECT pg_notify($1::TEXT, $2::TEXT)", "SELECT txid_current()",
			"SELECT pg_catalog.pg_current_xact_id()", "SELECT sha256($1::BYTEA)", "SELECT nextval($1::TEXT)",
			"SELECT pool_id FROM pools WHERE now() > $1", "SELECT current_timestamp", "SELECT pool_id FROM unknown_function($1::INT8)",
			"UPDATE pools SET labels = jsonb_strip_nulls(labels) WHERE pool_id = $1", "SELECT gateway_region()",
			"WITH a AS (SELECT gen_random_uuid() AS id) SELECT id FROM a", "SELECT crdb_internal.force_retry($1::INTERVAL)",
		},
		good: []string{"SELECT count(*), COALESCE(sum(length(claim_key)), 0) FROM pools", "SELECT k FROM unnest($1::UUID[]) WITH ORDINALITY AS u (k, n)"},
	},
	"division": {
		bad:  []string{"SELECT 7 / 2", "SELECT pool_id FROM pools WHERE plen / 2 > $1", "UPDATE pools SET plen = plen / 2 WHERE pool_id = $1", "SELECT 2 ^ 3", "SELECT 7 // 2", "SELECT 2 / (count(*) = 1)::INT4 FROM pools"},
		good: []string{"SELECT 7 % 2, 3 * 4", "SELECT 1 / (count(*) = 1)::INT4 FROM pools"},
	},
	"bit-precedence": {
		bad:  []string{"SELECT plen & 1 | 2 FROM pools", "SELECT plen | 1 & 2 FROM pools"},
		good: []string{"SELECT (plen & 1) | 2 FROM pools", "SELECT plen & 1 & 2 FROM pools"},
	},
	"star": {
		bad: []string{
			"SELECT * FROM pools", "SELECT p.* FROM pools AS p", "DELETE FROM pools WHERE pool_id = $1 RETURNING *", "TABLE pools",
			"SELECT pool_id FROM pools WHERE EXISTS (SELECT * FROM free_blocks)", "SELECT (p).* FROM pools AS p", "SELECT count(p.*) FROM pools AS p",
		},
		good: []string{"SELECT count(*) FROM pools", "SELECT pool_id FROM pools WHERE EXISTS (SELECT 1 FROM free_blocks)"},
	},
	"cast": {
		bad: []string{
			"SELECT $1", "SELECT $1 AS k FROM pools", "SELECT $1 + 1 FROM pools", "SELECT COALESCE($1, pool_id) FROM pools",
			"INSERT INTO pools (pool_id) SELECT $1", "INSERT INTO pools (pool_id, labels) SELECT pool_id, '{}' FROM pools",
			"SELECT k FROM unnest($1) AS u (k)", "DELETE FROM pools WHERE pool_id = $1 RETURNING $2", "SELECT CASE WHEN $1::BOOL THEN $2 ELSE labels END FROM pools",
		},
		good: []string{
			"SELECT $1::UUID FROM pools WHERE pool_id = $2 LIMIT $3", "INSERT INTO pools (pool_id, labels) VALUES ($1, $2)", "SELECT 'tiling' AS rule FROM pools",
			"UPDATE pools SET labels = $2 WHERE pool_id = $1", "SELECT pool_id FROM pools WHERE pool_id = ANY ($1::UUID[])",
			"INSERT INTO pools (pool_id, labels) SELECT pool_id, '{}'::JSONB FROM pools",
			"SELECT pool_id, EXISTS (SELECT 1 FROM free_blocks WHERE plen = $1) FROM pools",
		},
	},
	"integer-size": {
		bad:  []string{"SELECT $1::INT", "SELECT $1::integer", "SELECT $1::BIGINT", "SELECT $1::int[]", "CREATE TABLE t (n SMALLINT)"},
		good: []string{`SELECT $1::INT8, 'int' AS word`, "SELECT $1::INT2[]"},
	},
	"type": {
		bad: []string{
			"SELECT $1::INET", "SELECT $1::INT8RANGE", "CREATE TABLE t (r TSTZRANGE)", "CREATE TABLE t (c CITEXT)", "CREATE TABLE t (n VARCHAR(3))",
			"CREATE TABLE t (at TIMESTAMP)", "SELECT $1:::INT8", "SELECT $1::DOUBLE PRECISION", "SELECT CAST($1 AS OID)", "CREATE TABLE t (n JSONB[], s INET[])",
		},
		good: []string{"SELECT $1::TEXT, $2::BYTEA, $3::UUID[], $4::crdb_internal_region, $5::NUMERIC, $6::TIMESTAMPTZ"},
	},
	"family": {
		bad:  []string{`SELECT p.family FROM pools AS p`, `SELECT "family" FROM pools`, `INSERT INTO pools ("family") VALUES ($1)`, `CREATE TABLE t ("family" INT2)`, `SELECT af AS "family" FROM pools`},
		good: []string{"SELECT p.af FROM pools AS p WHERE p.labels ->> 'family' = $1"},
	},
	"system-name": {
		bad:  []string{"SELECT ctid FROM pools", "SELECT p.xmax FROM pools AS p", "SELECT relname FROM pg_class", "SELECT relname FROM pg_catalog.pg_class", "SELECT node_id FROM crdb_internal.gossip_nodes"},
		good: []string{"SELECT xmaximum FROM pools"},
	},
	"one-mutation": {
		bad: []string{
			"WITH d AS (DELETE FROM pools WHERE pool_id = $1 RETURNING pool_id) INSERT INTO pools (pool_id) SELECT pool_id FROM d",
			"WITH a AS (UPDATE pools AS p SET af = 4 WHERE p.pool_id = $1 RETURNING p.pool_id), b AS (DELETE FROM pools WHERE pool_id = $2 RETURNING pool_id) SELECT pool_id FROM a",
		},
		good: []string{"WITH d AS (DELETE FROM pools WHERE pool_id = $1 RETURNING pool_id) INSERT INTO gone (pool_id) SELECT pool_id FROM d"},
	},
	"insert-columns": {
		bad:  []string{"INSERT INTO pools VALUES ($1)", "INSERT INTO pools SELECT pool_id FROM gone"},
		good: []string{"INSERT INTO pools (pool_id) VALUES ($1)"},
	},
	"on-conflict": {
		bad: []string{
			"INSERT INTO pools (pool_id) VALUES ($1) ON CONFLICT DO NOTHING", "INSERT INTO pools (pool_id) VALUES ($1) ON CONFLICT ON CONSTRAINT pools_pkey DO NOTHING",
			"UPSERT INTO pools (pool_id) VALUES ($1)",
		},
		good: []string{"INSERT INTO pools (pool_id) VALUES ($1) ON CONFLICT (pool_id) DO NOTHING"},
	},
	"where": {
		bad:  []string{"UPDATE pools SET af = 4", "DELETE FROM pools", "WITH d AS (DELETE FROM gone RETURNING pool_id) SELECT pool_id FROM d"},
		good: []string{"DELETE FROM pools WHERE pool_id = $1"},
	},
	"lock-strength": {
		bad:  []string{"SELECT af FROM pools FOR SHARE", "SELECT af FROM pools FOR NO KEY UPDATE", "SELECT af FROM pools FOR KEY SHARE"},
		good: []string{"SELECT af FROM pools WHERE pool_id = $1 FOR UPDATE"},
	},
	"skip-locked": {
		bad: []string{
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 AND plen = $3 ORDER BY base FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 AND plen = $3 LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 ORDER BY base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 AND plen = ANY ($3) ORDER BY base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 AND (plen = $3 OR plen = $4) ORDER BY base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 ORDER BY plen DESC, base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM free_blocks WHERE region = $1 ORDER BY length(base) LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT f.base FROM free_blocks AS f, pools AS p WHERE f.region = $1 ORDER BY f.base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT base FROM nowhere ORDER BY base LIMIT 1 FOR UPDATE SKIP LOCKED",
		},
		good: []string{
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2 AND plen = $3 AND base >= $4 ORDER BY base LIMIT 1 FOR UPDATE SKIP LOCKED",
			"SELECT f.base FROM free_blocks AS f WHERE f.region = $1 AND f.pool_id = $2 AND f.plen <= $3 ORDER BY f.plen DESC, f.base DESC LIMIT $4 FOR UPDATE OF f SKIP LOCKED",
			"SELECT base FROM free_blocks ORDER BY region, pool_id LIMIT 8 FOR UPDATE SKIP LOCKED",
		},
	},
}

var trialsInQueries = map[string]trial{
	"statement": {
		bad:  []string{"SAVEPOINT a", "BEGIN", "SET statement_timeout = '5s'", "TRUNCATE pools", "CREATE TABLE t (n INT8)", "DO $$ BEGIN NULL; END $$", "EXPLAIN SELECT 1"},
		good: []string{"SELECT 1"},
	},
	"table": {
		bad:  []string{"SELECT n FROM nowhere", "WITH pools AS (SELECT 1 AS n) SELECT n FROM pools", "INSERT INTO nowhere (n) VALUES ($1)"},
		good: []string{"WITH a AS (SELECT labels FROM pools) SELECT labels FROM a"},
	},
	"region": {
		bad: []string{
			"SELECT base FROM free_blocks WHERE pool_id = $1", "DELETE FROM free_blocks WHERE pool_id = $1", "UPDATE allocations SET note = $2 WHERE pool_id = $1",
			"SELECT base FROM free_blocks WHERE region = $1 OR pool_id = $2", "SELECT base FROM free_blocks WHERE region <> $1",
			"SELECT f.base FROM free_blocks AS f JOIN allocations AS a ON a.region = f.region AND a.pool_id = f.pool_id",
			"SELECT f.base FROM free_blocks AS f JOIN allocations AS a USING (region, pool_id)",
			"SELECT f.base FROM free_blocks AS f, allocations AS a WHERE f.region = $1 AND f.pool_id = a.pool_id",
			"SELECT labels FROM pools WHERE EXISTS (SELECT 1 FROM free_blocks WHERE pool_id = $1)",
			"WITH a AS (SELECT base FROM free_blocks WHERE pool_id = $1) SELECT base FROM a WHERE base = $2",
			"SELECT base FROM free_blocks WHERE region = region",
		},
		good: []string{
			"SELECT base FROM free_blocks WHERE region = $1 AND pool_id = $2", "SELECT base FROM free_blocks WHERE region = ANY ($1)",
			"SELECT base FROM free_blocks WHERE (region, pool_id) = ($1, $2)", "SELECT base FROM free_blocks WHERE region IN ($1, $2)",
			"SELECT f.base FROM free_blocks AS f JOIN allocations AS a ON a.region = f.region AND a.pool_id = f.pool_id WHERE f.region = $1",
			"SELECT f.base FROM free_blocks AS f JOIN allocations AS a USING (region, pool_id) WHERE a.region = $1",
			"SELECT p.labels FROM pools AS p WHERE EXISTS (SELECT 1 FROM free_blocks AS f WHERE f.region = p.region AND f.pool_id = p.pool_id)",
			"SELECT labels FROM pools WHERE pool_id = $1", "INSERT INTO free_blocks (region, pool_id, plen, base) VALUES ($1, $2, $3, $4)",
			"WITH pick AS (SELECT region, base FROM free_blocks WHERE region = $1) DELETE FROM free_blocks AS f USING pick WHERE f.region = pick.region AND f.base = pick.base",
			"SELECT f.base FROM unnest($1::UUID[]) AS k (id) JOIN free_blocks AS f ON f.region = $2 AND f.pool_id = k.id",
		},
	},
}

var trialsInMigrations = map[string]trial{
	"statement": {
		bad: []string{
			"CREATE TYPE phase AS ENUM ('Bound')", "CREATE SEQUENCE s", "CREATE VIEW v AS SELECT 1", "CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS n",
			"DO $$ BEGIN NULL; END $$", "SELECT 1", "CREATE EXTENSION pgcrypto", "ALTER DATABASE carve SET PRIMARY REGION 'a'",
		},
		good: []string{"COMMENT ON TABLE pools IS 'blocks to carve from'", "UPDATE pools SET labels = '{}' WHERE labels IS NULL"},
	},
	"constraint-name": {
		bad: []string{
			"CREATE TABLE IF NOT EXISTS t (id UUID PRIMARY KEY)", "CREATE TABLE IF NOT EXISTS t (id UUID, PRIMARY KEY (id))", "CREATE TABLE IF NOT EXISTS t (n INT8 CHECK (n > 0))",
			"CREATE TABLE IF NOT EXISTS t (n INT8, CHECK (n > 0))", "CREATE TABLE IF NOT EXISTS t (n INT8 UNIQUE)", "CREATE TABLE IF NOT EXISTS t (n INT8, UNIQUE (n))",
			"CREATE TABLE IF NOT EXISTS t (p UUID REFERENCES pools (pool_id))", "CREATE TABLE IF NOT EXISTS t (p UUID, FOREIGN KEY (p) REFERENCES pools (pool_id))",
			"ALTER TABLE pools ADD UNIQUE (labels)", "CREATE INDEX ON pools (labels)", "ALTER TABLE pools ADD COLUMN IF NOT EXISTS n INT8 CHECK (n > 0)",
		},
		good: []string{
			"CREATE TABLE IF NOT EXISTS t (id UUID NOT NULL, n INT8 CONSTRAINT t_n_check CHECK (n > 0), CONSTRAINT t_pkey PRIMARY KEY (id))",
			"ALTER TABLE pools ADD CONSTRAINT pools_af_check CHECK (af IN (4, 6))", "CREATE INDEX IF NOT EXISTS pools_by_region ON pools (region)",
		},
	},
	"idempotent": {
		bad: []string{
			"CREATE TABLE t (n INT8)", "CREATE INDEX i ON pools (labels)", "DROP TABLE pools", "DROP INDEX i", "ALTER TABLE pools ADD COLUMN n INT8",
			"ALTER TABLE pools DROP COLUMN labels", "ALTER TABLE pools DROP CONSTRAINT pools_af_check",
			"ALTER TABLE pools ADD COLUMN IF NOT EXISTS n INT8 CONSTRAINT pools_n_check CHECK (n > 0)",
			"ALTER TABLE pools ADD COLUMN IF NOT EXISTS p UUID CONSTRAINT pools_p_fkey REFERENCES pools (pool_id)",
		},
		good: []string{"DROP TABLE IF EXISTS pools", "ALTER TABLE pools ADD COLUMN IF NOT EXISTS n INT8", "ALTER TABLE pools DROP COLUMN IF EXISTS labels"},
	},
	"identity": {
		bad: []string{
			"CREATE TABLE IF NOT EXISTS t (n SERIAL)", "CREATE TABLE IF NOT EXISTS t (n BIGSERIAL)", "CREATE TABLE IF NOT EXISTS t (n INT8 GENERATED ALWAYS AS IDENTITY)",
		},
		good: []string{"CREATE TABLE IF NOT EXISTS t (n INT8 GENERATED ALWAYS AS (1 + 1) STORED)"},
	},
	"column-type-change": {
		bad:  []string{"ALTER TABLE pools ALTER COLUMN labels TYPE TEXT", "ALTER TABLE pools ALTER COLUMN labels SET DATA TYPE TEXT USING labels::TEXT"},
		good: []string{"ALTER TABLE pools ALTER COLUMN labels SET DEFAULT '{}'"},
	},
	"region-first": {
		bad: []string{
			"CREATE TABLE IF NOT EXISTS t (region TEXT, k UUID, CONSTRAINT t_pkey PRIMARY KEY (region, k), CONSTRAINT t_k UNIQUE (k))",
			"CREATE TABLE IF NOT EXISTS t (region TEXT, k UUID CONSTRAINT t_k UNIQUE, CONSTRAINT t_pkey PRIMARY KEY (region, k))",
			"CREATE INDEX IF NOT EXISTS i ON allocations (pool_id)", "CREATE UNIQUE INDEX IF NOT EXISTS i ON allocations (claim_key, region)",
			"ALTER TABLE allocations ADD CONSTRAINT a UNIQUE (claim_key)", "CREATE INDEX IF NOT EXISTS i ON allocations (lower(note))",
		},
		good: []string{
			"CREATE INDEX IF NOT EXISTS i ON pools (labels)", "CREATE UNIQUE INDEX IF NOT EXISTS i ON allocations (region, claim_key)",
			"ALTER TABLE allocations ADD CONSTRAINT a UNIQUE (region, claim_key, plen)",
		},
	},
}

func TestEveryRuleFindsItsViolations(t *testing.T) {
	t.Parallel()
	findings, known, _, err := checkMigrations(os.DirFS("testdata/migrations"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	for name, list := range map[string]struct {
		rules  []rule
		trials map[string]trial
	}{
		"EveryStatement": {everyStatement, trialsOfEveryStatement},
		"InQueries":      {inQueries, trialsInQueries},
		"InMigrations":   {inMigrations, trialsInMigrations},
	} {
		for _, r := range list.rules {
			t.Run(name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				tried, ok := list.trials[r.name]
				if !ok || len(tried.bad) == 0 || len(tried.good) == 0 {
					t.Fatal("a rule without statements that it flags and that it passes is not a rule yet")
				}
				for _, text := range tried.bad {
					if found := judge(t, text, known, list.rules); !slices.Contains(found, r.name) {
						t.Errorf("passes, and should not: %s (found %v)", text, found)
					}
				}
				for _, text := range tried.good {
					if found := judge(t, text, known, list.rules); len(found) > 0 {
						t.Errorf("flagged, and should not be: %s (%v)", text, found)
					}
				}
			})
		}
	}
}

// judge returns the names of the rules that a text breaks.
func judge(t *testing.T, text string, known schema, rules []rule) (names []string) {
	t.Helper()
	statements, err := parse(text)
	if err != nil || len(statements) != 1 {
		t.Fatalf("%s: %d statements, %v", text, len(statements), err)
	}
	for _, finding := range check("", subject{statement: statements[0], schema: known}, rules) {
		names = append(names, finding.Rule)
	}
	return names
}

// CockroachDB's grammar refuses these texts, which PostgreSQL accepts. The test fails if a newer grammar accepts one.
func TestCockroachDBGrammarRefusesPostgreSQLOnlySyntax(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT family FROM pools",
		"CREATE TABLE t (r INT8RANGE, EXCLUDE USING gist (r WITH &&))",
		"CREATE DOMAIN d AS INT8",
		"CREATE TABLE t (c CIDR)",
		"CREATE TABLE t (p UUID, CONSTRAINT f FOREIGN KEY (p) REFERENCES pools (pool_id) DEFERRABLE INITIALLY DEFERRED)",
		"LISTEN a",
		"LOCK TABLE pools",
		"MERGE INTO pools USING gone ON true WHEN MATCHED THEN DELETE",
		"CREATE INDEX i ON pools USING hash (labels)",
		"SELECT base FROM free_blocks ORDER BY base FETCH FIRST 1 ROW WITH TIES",
		"SELECT pool_id FROM pools WHERE pool_id = ?",
		"SELECT @name",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("reads: %s", text)
		}
	}
}
