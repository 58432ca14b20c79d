package schema

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

// cluster simulates the catalogue of a CockroachDB cluster for Migrate: regions, localities and goose's tables. It refuses every unknown statement,
// so that a new statement gets a review.
type cluster struct {
	nodes   []string // regions that have nodes
	gateway string   // region of the node that serves the connection

	primary  string
	regions  []string
	goal     string
	tables   map[string]string
	applied  []int64
	recorded [][]any
	access   *access
	fail     map[string]pgscript.Reply // reply to the next statement with this prefix; the statement does not run

	locking bool            // new tables are schema-locked unless the session forbids it, as since CockroachDB 26.1
	locked  map[string]bool // tables that are schema-locked
	killer  *Killer         // nil: no process dies
}

func newCluster(nodes ...string) *cluster {
	return &cluster{nodes: nodes, gateway: nodes[0], access: newAccess(), tables: map[string]string{}, locked: map[string]bool{}, fail: map[string]pgscript.Reply{}}
}

// start starts a server for the cluster on loopback. The test may read the fields of the cluster only while no client is connected.
func (c *cluster) start(t *testing.T) *pgscript.Server {
	t.Helper()
	server, err := pgscript.Start(t.Context(), pgscript.Script{Answer: c.answer, Shape: c.shape})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

var (
	tableExists   = regexp.MustCompile(`^SELECT EXISTS \( SELECT 1 FROM pg_tables WHERE .* tablename = '(\w+)' \)$`)
	createTable   = regexp.MustCompile(`^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(.*?(?:\) LOCALITY (.+))?$`)
	schemaLocked  = regexp.MustCompile(`^ALTER TABLE "(\w+)" SET \(schema_locked = (true|false)\)$`)
	otherSteps    = regexp.MustCompile(`^(CREATE (UNIQUE )?INDEX|INSERT INTO compatibility)`)
	alterDatabase = regexp.MustCompile(`^ALTER DATABASE "carve" (SET PRIMARY REGION|ADD REGION IF NOT EXISTS|SURVIVE) (?:"([a-z0-9-]+)"|(ZONE|REGION) FAILURE)$`)
	alterLocality = regexp.MustCompile(`^ALTER TABLE "(\w+)" SET LOCALITY (.+)$`)
)

func (c *cluster) answer(s pgscript.Statement) pgscript.Reply {
	before, after := c.killer.Strikes(s.SQL)
	if before {
		return pgscript.Reply{Cut: true}
	}
	if r := c.alive(s); !after {
		return r
	}
	return pgscript.Reply{Cut: true}
}

func (c *cluster) alive(s pgscript.Statement) pgscript.Reply {
	for begin, r := range c.fail {
		if strings.HasPrefix(s.SQL, begin) {
			delete(c.fail, begin)
			return r
		}
	}
	if r, ok := c.access.answer(s); ok {
		return r
	}
	if strings.Contains(s.SQL, "; ") {
		return c.several(s)
	}
	if m := tableExists.FindStringSubmatch(s.SQL); m != nil {
		_, there := c.tables[m[1]]
		return pgscript.Reply{Rows: [][]any{{there}}}
	}
	if m := createTable.FindStringSubmatch(s.SQL); m != nil {
		if m[2] != "" && c.primary == "" {
			return pgscript.Reply{Code: "42P16"}
		}
		if _, there := c.tables[m[1]]; !there {
			c.tables[m[1]] = cmp.Or(m[2], c.unsaid())
			c.locked[m[1]] = c.locking && s.Settings["create_table_with_schema_locked"] != "off"
		}
		return pgscript.Reply{Tag: "CREATE TABLE"}
	}
	if m := alterDatabase.FindStringSubmatch(s.SQL); m != nil {
		return c.alter(m[1], m[2], m[3])
	}
	if m := alterLocality.FindStringSubmatch(s.SQL); m != nil {
		if _, there := c.tables[m[1]]; !there || c.primary == "" {
			return pgscript.Reply{Code: "42P16"}
		}
		if c.locked[m[1]] {
			return pgscript.Reply{Code: "57000"}
		}
		c.tables[m[1]] = m[2]
		return pgscript.Reply{Tag: "ALTER TABLE"}
	}
	if m := schemaLocked.FindStringSubmatch(s.SQL); m != nil {
		c.locked[m[1]] = m[2] == "true"
		return pgscript.Reply{Tag: "ALTER TABLE"}
	}
	if otherSteps.MatchString(s.SQL) {
		return pgscript.Reply{Tag: verb(s.SQL)}
	}
	return c.rows(s)
}

// several runs the statements of one message. They are one transaction if the session turns off autocommit_before_ddl. Migrate must turn it off,
// because separate transactions take half a minute. If a statement fails here, the statements before it persist anyway. So the tests show that this
// is harmless.
func (c *cluster) several(s pgscript.Statement) (last pgscript.Reply) {
	if s.Settings["autocommit_before_ddl"] != "off" {
		return pgscript.Reply{Code: "0A000"}
	}
	for sql := range strings.SplitSeq(s.SQL, "; ") {
		s.SQL = sql
		if last = c.alive(s); last.Code != "" || last.Cut {
			break
		}
	}
	return last
}

// forget gives all tables the locality of a table that is older than the regions.
func (c *cluster) forget() {
	for table := range c.tables {
		c.tables[table] = string(RegionalByTable)
	}
}

// unsaid returns the locality of a table that was created without one.
func (c *cluster) unsaid() string {
	if c.primary == "" {
		return ""
	}
	return string(RegionalByTable)
}

func (c *cluster) alter(what, region, goal string) pgscript.Reply {
	switch {
	case what == "SURVIVE" && goal == "REGION" && len(c.regions) < 3:
		return pgscript.Reply{Code: "42602"}
	case what == "SURVIVE":
		c.goal = strings.ToLower(goal)
	case !slices.Contains(c.nodes, region), (what == "ADD REGION IF NOT EXISTS") == (c.primary == ""):
		return pgscript.Reply{Code: "42602"}
	default:
		if c.primary == "" {
			c.primary, c.goal = region, SurviveZone
			c.forget()
		}
		if !slices.Contains(c.regions, region) {
			c.regions = append(c.regions, region)
			slices.Sort(c.regions) // CockroachDB sorts the values of the type
		}
	}
	return pgscript.Reply{Tag: "ALTER DATABASE"}
}

// rows runs the statements that return rows, and the statements that store these rows.
func (c *cluster) rows(s pgscript.Statement) pgscript.Reply {
	var rows [][]any
	switch {
	case s.SQL == "SELECT version()", slices.Contains([]string{"begin", "commit", "rollback"}, verb(s.SQL)):
		return pgscript.Reply{}
	case s.SQL == askDatabase:
		rows = [][]any{{"carve"}}
	case s.SQL == askRegions:
		for _, r := range c.regions {
			rows = append(rows, []any{r, r == c.primary})
		}
	case s.SQL == askCluster:
		for _, r := range c.nodes {
			rows = append(rows, []any{r})
		}
	case s.SQL == askGoal:
		rows = [][]any{{c.goal}}
	case s.SQL == askGateway:
		rows = [][]any{{c.gateway}}
	case s.SQL == askTables:
		for table, locality := range c.tables {
			rows = append(rows, []any{table, locality})
		}
	case strings.HasPrefix(s.SQL, "SELECT name, ordinal, created_at FROM regions"):
		if _, there := c.tables["regions"]; !there {
			return pgscript.Reply{Code: undefinedTable}
		}
		rows = c.recorded
	case strings.HasPrefix(s.SQL, "INSERT INTO regions"):
		c.recorded = append(c.recorded, s.Args)
		return pgscript.Reply{}
	case strings.HasPrefix(s.SQL, "INSERT INTO goose_lock"):
		rows = [][]any{{s.Args[1], time.Unix(0, 0)}}
	case strings.HasPrefix(s.SQL, "UPDATE goose_lock"):
		rows = [][]any{{s.Args[0]}}
	case s.SQL == flat(beginVersions):
		c.applied = append(c.applied, 0)
		return pgscript.Reply{}
	case strings.HasPrefix(s.SQL, "INSERT INTO goose_db_version"):
		c.applied = append(c.applied, s.Args[0].(int64))
		return pgscript.Reply{}
	case s.SQL == askLocked:
		for _, table := range slices.Sorted(maps.Keys(c.locked)) {
			if c.locked[table] {
				rows = append(rows, []any{table})
			}
		}
	case s.SQL == flat(askVersionZero):
		if _, there := c.tables["goose_db_version"]; !there {
			return pgscript.Reply{Code: undefinedTable}
		}
		rows = [][]any{{len(c.applied) > 0}}
	case s.SQL == "SELECT version_id, is_applied from goose_db_version ORDER BY id DESC":
		for _, v := range slices.Backward(c.applied) {
			rows = append(rows, []any{v, true})
		}
	case s.SQL == askApplied:
		if _, there := c.tables["goose_db_version"]; !there {
			return pgscript.Reply{Code: undefinedTable}
		}
		if len(c.applied) == 0 {
			return pgscript.Reply{Rows: [][]any{{nil}}}
		}
		rows = [][]any{{slices.Max(c.applied)}}
	default:
		return pgscript.Reply{Code: "0A000"}
	}
	return pgscript.Reply{Rows: append([][]any{}, rows...)}
}

// shape returns the description that CockroachDB gives of a prepared statement.
func (c *cluster) shape(sql string) pgscript.Shape {
	columns := func(types ...uint32) (out []pgscript.Column) {
		for i, t := range types {
			out = append(out, pgscript.Column{Name: fmt.Sprint("c", i), Type: t})
		}
		return out
	}
	const text, number, yes, at = pgtype.TextOID, pgtype.Int8OID, pgtype.BoolOID, pgtype.TimestamptzOID
	if s, ok := c.access.shape(sql); ok {
		return s
	}
	switch {
	case tableExists.MatchString(sql), sql == flat(askVersionZero):
		return pgscript.Shape{Columns: columns(yes)}
	case sql == askDatabase, sql == askCluster, sql == askGoal, sql == askGateway, sql == askLocked:
		return pgscript.Shape{Columns: columns(text)}
	case sql == askRegions:
		return pgscript.Shape{Columns: columns(text, yes)}
	case sql == askTables:
		return pgscript.Shape{Columns: columns(text, text)}
	case strings.HasPrefix(sql, "SELECT name, ordinal, created_at FROM regions"):
		return pgscript.Shape{Columns: columns(text, number, at)}
	case strings.HasPrefix(sql, "INSERT INTO regions"):
		return pgscript.Shape{Params: []uint32{text, number, at}}
	case strings.HasPrefix(sql, "INSERT INTO goose_lock"):
		return pgscript.Shape{Params: []uint32{number, text, text}, Columns: columns(text, at)}
	case strings.HasPrefix(sql, "UPDATE goose_lock"): // returns the lease, or takes over an expired one
		if !strings.Contains(sql, "$1") {
			return pgscript.Shape{Columns: columns(number)}
		}
		return pgscript.Shape{Params: []uint32{number, text}, Columns: columns(number)}
	case strings.HasPrefix(sql, "INSERT INTO goose_db_version"):
		return pgscript.Shape{Params: []uint32{number, yes}}
	case strings.HasPrefix(sql, "SELECT version_id, is_applied"):
		return pgscript.Shape{Columns: columns(number, yes)}
	case strings.HasPrefix(sql, "SELECT max(version_id)"):
		return pgscript.Shape{Columns: columns(number)}
	}
	return pgscript.Shape{}
}

func verb(sql string) string {
	word, _, _ := strings.Cut(sql, " ")
	return word
}
