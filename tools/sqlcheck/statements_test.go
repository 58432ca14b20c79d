package sqlcheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// project is the checkout around this module.
var project = filepath.Join("..", "..")

func projectStatements(t *testing.T) []entry {
	t.Helper()
	root := os.DirFS(project)
	migrations, err := fs.Sub(root, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	_, known, _, err := checkMigrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	localities, err := os.ReadFile(filepath.Join(project, "internal", "crdb", "schema", "tables.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := known.readLocalities(string(localities)); err != nil {
		t.Fatal(err)
	}
	queries, err := fs.Sub(root, "internal/crdb/query")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readStatements(queries, known)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("no statement was found")
	}
	return entries
}

func projectRequests(t *testing.T) []request {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "internal", "crdb", "testdata", "transactions.json"))
	if err != nil {
		t.Fatal(err)
	}
	requests, err := readRequests(text)
	if err != nil || len(requests) == 0 {
		t.Fatal("no request was recorded: ", err)
	}
	return requests
}

// The index in a statement's head is the one in its golden plan. (The tests that make the plans check that a plan uses no other index.)
func TestHeadsNameTheIndexesThatPlansUse(t *testing.T) {
	t.Parallel()
	entries := projectStatements(t)
	migrations, err := fs.Sub(os.DirFS(project), "migrations")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := indexOwners(migrations)
	if err != nil {
		t.Fatal(err)
	}
	byKeys := regexp.MustCompile(`_keys\d+(_sure)?$`) // these are for CockroachDB, and PostgreSQL plans no such statement
	for _, e := range entries {
		if byKeys.MatchString(e.name) {
			continue
		}
		plan, err := os.ReadFile(filepath.Join(project, "internal", "crdb", "testdata", "plans", e.name+".txt"))
		if err != nil {
			t.Errorf("%s has no golden plan", e.name)
			continue
		}
		for _, name := range notInPlan(e, string(plan), owner) {
			t.Errorf("%s: its head names %s, which its plan does not use", e.name, name)
		}
	}
}

func TestRegionsAreDerivedFromTheStatement(t *testing.T) {
	t.Parallel()
	known := schema{
		"claims": {primaryKey: []string{"region", "id"}},
		"blocks": {primaryKey: []string{"region", "base"}},
		"gone":   {primaryKey: []string{"id"}, primary: true},
		"pools":  {primaryKey: []string{"id"}, columns: []string{"id", "region"}},
	}
	for sql, want := range map[string]string{
		"SELECT c.id FROM claims AS c WHERE c.region = $1 AND c.id = $2":                                                                          oneRegion,
		"SELECT c.id FROM claims AS c JOIN blocks AS b ON b.region = c.region WHERE c.region = $1":                                                oneRegion,
		"SELECT p.id FROM pools AS p WHERE p.region = $1":                                                                                         globalOnly,
		"SELECT p.id, c.id FROM pools AS p JOIN claims AS c ON c.region = p.region WHERE p.id = $1":                                               regionsOfRows,
		"SELECT c.id FROM claims AS c WHERE c.region = ANY ($1::TEXT[])":                                                                          regionsOfRows,
		"SELECT b.base FROM unnest($1::TEXT[]) AS k (region) JOIN blocks AS b ON b.region = k.region::crdb_internal_region":                       regionsOfRows,
		"INSERT INTO claims (region, id) SELECT $1::crdb_internal_region, k.id FROM unnest($2::UUID[]) AS k (id)":                                 oneRegion,
		"INSERT INTO claims (region, id) SELECT k.region::crdb_internal_region, k.id FROM unnest($1::TEXT[], $2::UUID[]) AS k (region, id)":       regionsOfRows,
		"INSERT INTO claims (region, id) VALUES ($1, $2)":                                                                                         oneRegion,
		"DELETE FROM gone WHERE id = $1":                                                                                                          primaryRegion,
		"UPDATE pools SET id = $2 WHERE id = $1":                                                                                                  globalWrite,
		"DELETE FROM pools AS p WHERE p.id = $2 AND NOT EXISTS (SELECT 1 FROM claims AS c WHERE c.region = $1 AND c.id = p.id)":                   oneRegion + "; " + globalWrite,
		"DELETE FROM claims WHERE region = $1 AND id IN (SELECT p.id FROM pools AS p WHERE p.region = $1)":                                        oneRegion,
		"SELECT (SELECT count(*) FROM claims WHERE region = $1), (SELECT count(*) FROM blocks WHERE region IN (SELECT p.region FROM pools AS p))": regionsOfRows,
	} {
		statements, err := parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := touched(subject{statement: statements[0], schema: known}, ""); got != want {
			t.Errorf("%s\n  touches %q, not %q", sql, got, want)
		}
	}
	if got := touched(subject{}, "every, because names are looked for"); got != "every: names are looked for" {
		t.Error(got)
	}
}

func TestHeadWithAnotherIndexThanItsPlanIsFound(t *testing.T) {
	t.Parallel()
	owner := map[string]string{"claims_pkey": "claims", "claims_name_key": "claims", "pools_pkey": "pools"}
	for name, c := range map[string]struct {
		index, inserts, plan string
		missing              int
	}{
		"TheOneOfThePlan":               {"claims_pkey", "", "Index Scan using claims_pkey on claims", 0},
		"AnotherOne":                    {"claims_name_key", "", "Index Scan using claims_pkey on claims", 1},
		"OneMore":                       {"claims_pkey, pools_pkey", "", "Index Scan using claims_pkey on claims", 1},
		"OneOfTwo":                      {"claims_pkey or claims_name_key", "", "Index Scan using claims_name_key on claims", 0},
		"NoneOfTwo":                     {"claims_pkey or claims_name_key", "", "Index Scan using pools_pkey on pools", 2},
		"NewRowsUseAnIndexOfTheirTable": {"claims_pkey", "claims", "Insert on claims", 0},
		"NewRowsOfAnotherTable":         {"pools_pkey", "claims", "Insert on claims", 1},
	} {
		e := entry{remarks: map[string]string{"index": c.index}, inserts: c.inserts}
		if missing := notInPlan(e, c.plan, owner); len(missing) != c.missing {
			t.Errorf("%s: %v", name, missing)
		}
	}
}

// A claim on a cached pool, and a release, use rows of their own region and read data that every region has. They never wait for another region.
func TestClaimsAndReleasesTouchTheirOwnRegionAlone(t *testing.T) {
	t.Parallel()
	entries := projectStatements(t)
	regions := map[string]string{}
	for _, e := range entries {
		regions[e.name] = e.regions
	}
	seen := 0
	for _, r := range projectRequests(t) {
		if r.Request != "CreateAnotherClaim" && r.Request != "DeleteClaim" {
			continue
		}
		last := r.Attempts[len(r.Attempts)-1]
		if last.Op != "claim_group" {
			t.Fatalf("%s ends with %s", r.Request, last.Op)
		}
		for _, trip := range last.Trips {
			for _, name := range trip {
				if where, statement := regions[name]; statement {
					seen++
					if where != oneRegion && where != globalOnly {
						t.Errorf("%s sends %s, which touches %s", r.Request, name, where)
					}
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d statements were looked at", seen)
	}
}
