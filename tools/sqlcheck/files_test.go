package sqlcheck

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

const goodHead = "-- purpose: p\n-- index: i\n-- rows: r\n-- locks: l\n"

func folder(files map[string]string) fstest.MapFS {
	made := fstest.MapFS{}
	for name, text := range files {
		made[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return made
}

func expect(t *testing.T, findings []Finding, rule, words string) {
	t.Helper()
	for _, finding := range findings {
		if finding.Rule == rule && strings.Contains(finding.Detail, words) {
			return
		}
	}
	t.Errorf("nothing about %s (%q) in %v", rule, words, findings)
}

func TestQueryFiles(t *testing.T) {
	t.Parallel()

	t.Run("AGoodTreePasses", func(t *testing.T) {
		t.Parallel()
		_, known, _, err := checkMigrations(os.DirFS("testdata/migrations"))
		if err != nil {
			t.Fatal(err)
		}
		findings, checked, err := checkQueries(os.DirFS("testdata/query"), known)
		if err != nil || checked != 2 || len(findings) > 0 {
			t.Fatal(err, checked, findings)
		}
	})

	for name, c := range map[string]struct {
		files       map[string]string
		rule, words string
	}{
		"AMissingRemarkIsFlagged":        {map[string]string{"a.sql": "-- purpose: p\n-- index: i\n-- rows: r\nSELECT 1"}, "head", "locks"},
		"AnEmptyRemarkIsFlagged":         {map[string]string{"a.sql": strings.Replace(goodHead, "rows: r", "rows:", 1) + "SELECT 1"}, "head", "rows"},
		"RemarksOutOfOrderAreFlagged":    {map[string]string{"a.sql": "-- index: i\n-- purpose: p\n-- rows: r\n-- locks: l\nSELECT 1"}, "head", "line 1"},
		"RemarksBelowTheStatementAreNot": {map[string]string{"a.sql": "SELECT 1\n" + goodHead}, "head", "purpose"},
		"AnUnreasonedRegionIsFlagged":    {map[string]string{"a.sql": goodHead + "-- region: every\nSELECT 1"}, "head", "region"},
		"TwoStatementsAreFlagged":        {map[string]string{"a.sql": goodHead + "SELECT 1; SELECT 2"}, "one-statement", "2"},
		"NoStatementIsFlagged":           {map[string]string{"a.sql": goodHead}, "one-statement", "0"},
		"ASyntaxErrorIsFlagged":          {map[string]string{"a.sql": goodHead + "SELECT FROM WHERE"}, "grammar", "syntax error"},
		"AFileNameIsLowerCase":           {map[string]string{"ClaimInsert.sql": goodHead + "SELECT 1"}, "file-name", "lower case"},
		"OneNameIsOneStatement": {map[string]string{"a/claim_get.sql": goodHead + "SELECT 1", "b/claim_get.sql": goodHead + "SELECT 1"},
			"file-name", "ClaimGet is also a/claim_get.sql"},
		"TheRulesAreApplied": {map[string]string{"a.sql": goodHead + "SELECT $1"}, "cast", "$1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, _, err := checkQueries(folder(c.files), schema{})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, findings, c.rule, c.words)
		})
	}
}

func TestStatementName(t *testing.T) {
	t.Parallel()
	if name := statementName("claim/claim_insert.sql"); name != "ClaimInsert" {
		t.Error(name)
	}
}

func TestMigrationFiles(t *testing.T) {
	t.Parallel()
	const top = "-- +goose NO TRANSACTION\n-- +goose Up\n"
	for name, c := range map[string]struct {
		files       map[string]string
		rule, words string
	}{
		"AnUnnumberedFileIsFlagged": {map[string]string{"pools.sql": top + "DROP TABLE IF EXISTS a"}, "file-name", "named like"},
		"ANumberIsUsedOnce":         {map[string]string{"0001_a.sql": top, "0001_b.sql": top}, "file-name", "0001_a.sql"},
		"ATransactionIsFlagged":     {map[string]string{"0001_a.sql": "-- +goose Up\n"}, "goose", "NO TRANSACTION"},
		"AMissingUpIsFlagged":       {map[string]string{"0001_a.sql": "-- +goose NO TRANSACTION\n"}, "goose", "Up"},
		"ASyntaxErrorIsFlagged":     {map[string]string{"0001_a.sql": top + "CREATE TABLE ("}, "grammar", "syntax error"},
		"ADownMigrationIsChecked":   {map[string]string{"0001_a.sql": top + "-- +goose Down\nDROP TABLE a"}, "idempotent", "DROP TABLE"},
		"TheRulesAreApplied":        {map[string]string{"0001_a.sql": top + "CREATE TABLE IF NOT EXISTS t (n INT)"}, "integer-size", "INT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, _, _, err := checkMigrations(folder(c.files))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, findings, c.rule, c.words)
		})
	}

	t.Run("TheSchemaIsTheResultOfAllMigrations", func(t *testing.T) {
		t.Parallel()
		_, made, _, err := checkMigrations(os.DirFS("testdata/migrations"))
		if err != nil {
			t.Fatal(err)
		}
		if !made["free_blocks"].regional() || made["pools"].regional() || len(made) != 3 {
			t.Errorf("%v", made)
		}
	})
}

func TestGoFiles(t *testing.T) {
	t.Parallel()
	const code = "package a\n\nconst q = `%`\n"
	write := func(sql string) string { return strings.Replace(code, "%", sql, 1) }
	files := folder(map[string]string{
		"crdb/claims.go":          write("\n\tSELECT base\n\tFROM free_blocks"),
		"crdb/insert.go":          write("insert into pools (a) values ($1)"),
		"crdb/cte.go":             write("WITH a AS (SELECT 1) SELECT 1"),
		"crdb/engine_postgres.go": write("SELECT a FROM b"),
		"crdb/claims_test.go":     write("SELECT a FROM b"),
		"devdb/start.go":          write("SELECT a FROM b"),
		"api/words.go":            write("select a pool by its labels; update the claim: with care"),
	})
	findings, checked, err := checkGo(files, "devdb")
	if err != nil || checked != 4 {
		t.Fatal(err, checked)
	}
	for _, name := range []string{"crdb/claims.go", "crdb/cte.go", "crdb/insert.go"} {
		if len(findings) == 0 || findings[0].File != name {
			t.Fatalf("expected %s at the head of %v", name, findings)
		}
		findings = findings[1:]
	}
	if len(findings) > 0 {
		t.Error(findings)
	}
}

func TestAPanicOfTheParserIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"DO $$ BEGIN PERFORM 1; END $$", "DO $$ nonsense $$", "$", "\x00", "SELECT '"} {
		_, err := parse(text) // must return
		t.Log(err)
	}
}
