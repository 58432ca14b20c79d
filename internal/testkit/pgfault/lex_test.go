package pgfault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNormalisedTextContainsOnlyTheStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "",
		" ;; ":                                   "",
		"COMMIT":                                 "commit",
		"  Commit\n\tWork ; ":                    "commit work",
		"-- name: A\nSELECT  1":                  "select 1",
		"select 1 -- ; commit":                   "select 1",
		"select /* a /* b */ ; */ 1":             "select 1",
		"select/**/1":                            "select 1",
		"SELECT 'It''s; -- FINE' , \"Na\"\"Me\"": `select 'It''s; -- FINE' , "Na""Me"`,
		`SELECT E'a\';b', 'a\';select 2`:         `select e'a\';b', 'a\'; select 2`,
		"DO $Body$ BEGIN COMMIT; END $Body$":     "do $Body$ BEGIN COMMIT; END $Body$",
		"select $1::INT8, $2, a$b, $$;$$":        "select $1::int8, $2, a$b, $$;$$",
		"select 1; Select 2":                     "select 1; select 2",
		"create rule r as do (select 1; x)":      "create rule r as do (select 1; x)",
		"select 'open":                           "select 'open",
		"select $x$open":                         "select $x$open",
		"select /* open":                         "select",
	} {
		require.Equal(t, want, analyse(text).sql, "%q", text)
	}
}

func TestKindOfAStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Kind{
		"":                                    Statement,
		"begin isolation level serializable":  Begin,
		"start transaction read only":         Begin,
		"start_x":                             Statement,
		"commit":                              Commit,
		"commit and chain":                    Commit,
		"end":                                 Commit,
		"commit prepared 'x'":                 Statement,
		"release savepoint cockroach_restart": Commit,
		"release cockroach_restart":           Commit,
		"release savepoint mine":              Statement,
		"rollback":                            Rollback,
		"rollback work":                       Rollback,
		"abort":                               Rollback,
		"rollback to savepoint s":             Statement,
		"rollback work to s":                  Statement,
		"rollback prepared 'x'":               Statement,
		"select 'commit'":                     Statement,
		"select \"commit\"":                   Statement,
		"begin; insert into t values (1)":     Statement,
		"insert into t values (1); commit":    Commit,
		"select 1; select 2":                  Statement,
	} {
		require.Equal(t, want.String(), analyse(text).kind.String(), "%q", text)
	}
}

func TestTransactionBlockIsTrackedThroughAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"select 1":                            true,
		"commit":                              false,
		"rollback":                            false,
		"commit; begin":                       true,
		"release savepoint cockroach_restart": true,
		"release cockroach_restart; commit":   false,
	} {
		require.Equal(t, want, analyse(text).inTxAfter(true), "%q", text)
	}
	require.True(t, analyse("begin; select 1").inTxAfter(false))
}

func TestTablesOfAStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"select 1": "",
		"select * from a, b x, only c join d on true":                                                   "a b c d",
		"insert into a (x) select x from b on conflict do nothing":                                      "a b",
		"insert into a (x) values (1) on conflict (x) do update set x = 1":                              "a",
		"update a set x = b.x from b":                                                                   "a b",
		"delete from a using b where a.x = b.x":                                                         "a b",
		"with p as (select 1 from a for update skip locked) delete from b where x in (select x from p)": "a b",
		"select 1 from unnest($1::int8[]) as u, a":                                                      "a",
		"select x is distinct from y from s.\"T\"":                                                      "s.T",
		"select 1 from (select 2 from a) q, b":                                                          "b a",
		"with p as not materialized (select 1) select 1 from p, lateral f(1) as g, a":                   "a",
		"select 1 from a join b using (id), c":                                                          "a b c",
		"select extract(epoch from now())":                                                              "",
	} {
		require.Equal(t, want, strings.Join(analyse(text).tables, " "), "%q", text)
	}
}

func TestWritesMeansDML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"select 1 from a for update":                            false,
		"select 1 from a for no key update":                     false,
		"select 'delete' from a":                                false,
		"update a set x = 1":                                    true,
		"with p as (delete from a returning 1) table p":         true,
		"insert into a default values":                          true,
		"merge into a using b on true when matched then delete": true,
	} {
		require.Equal(t, want, analyse(text).writes, "%q", text)
	}
}

func TestStripLocksChangesOnlyLocks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"select 1":                   "select 1",
		"select 1 from a FOR UPDATE": "select 1 from a ",
		"select 1 from a for update of a, s.b skip locked;":                              "select 1 from a ;",
		"select 1 from a for no key update nowait -- for update":                         "select 1 from a  -- for update",
		"with p as (select 1 from a for share) select 'for update' from p for key share": "with p as (select 1 from a ) select 'for update' from p ",
		"select substring(x for 2) from a":                                               "select substring(x for 2) from a",
		"insert into a values (1) on conflict do update set x = 2":                       "insert into a values (1) on conflict do update set x = 2",
	} {
		require.Equal(t, want, stripLocks(text), "%q", text)
	}
}

func FuzzScanCoversTheTextInOrder(f *testing.F) {
	for _, seed := range []string{"select 'a', \"b\", $1, $x$y$x$ -- c\n/* d */ for update;", "E'\\", "$", "/*", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		at := 0
		for _, token := range scan(sql) {
			require.GreaterOrEqual(t, token.start, at)
			require.Greater(t, token.end, token.start)
			require.LessOrEqual(t, token.end, len(sql))
			at = token.end
		}
		analyse(sql)
		stripLocks(sql)
	})
}
