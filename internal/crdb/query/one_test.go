package query_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

var update = flag.Bool("update", false, "write the statements for one row anew")

var (
	unnest    = regexp.MustCompile(`(?s)FROM unnest\((.*?)\)\s+AS k`)
	arrayType = regexp.MustCompile(`(\$\d+::[A-Z0-9]+)\[\]`)
	list      = regexp.MustCompile(`(?s)\)\s+AS k \((.*?)\)`)
	rowsLine  = regexp.MustCompile(`(?m)^-- rows: .*$`)
	purpose   = regexp.MustCompile(`(?m)^-- purpose: `)
)

// The statement for rows that are alike is the one for many, with one value where the rows do not differ.
func TestStatementsForRowsThatAreAlikeAreThoseForMany(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claim_insert", "allocation_insert", "event_insert", "history_insert"} {
		raw, err := os.ReadFile(name + ".sql")
		require.NoError(t, err)
		many := string(raw)
		params := strings.Split(strings.Join(strings.Fields(unnest.FindStringSubmatch(many)[1]), ""), ",")
		names := strings.Split(strings.Join(strings.Fields(list.FindStringSubmatch(many)[1]), ""), ",")
		varies := query.Columns(name)
		require.Len(t, params, len(varies))
		require.Len(t, names, len(varies))
		var keptParams, keptNames []string
		for i, is := range varies {
			if is {
				keptParams, keptNames = append(keptParams, params[i]), append(keptNames, names[i])
				continue
			}
			value := strings.TrimSuffix(params[i], "[]")
			json := strings.TrimSuffix(value, "TEXT") + "JSONB"
			many = regexp.MustCompile(`k\.`+names[i]+`::JSONB`).ReplaceAllLiteralString(many, json)
			many = regexp.MustCompile(`k\.`+names[i]+`\b`).ReplaceAllLiteralString(many, value)
		}
		alike := unnest.ReplaceAllLiteralString(many, "FROM unnest("+strings.Join(keptParams, ", ")+") AS k")
		alike = list.ReplaceAllLiteralString(alike, ") AS k ("+strings.Join(keptNames, ", ")+")")
		alike = purpose.ReplaceAllString(alike, "-- purpose: of some that are alike, ")
		if *update {
			require.NoError(t, os.WriteFile(name+"_alike.sql", []byte(alike), 0o600))
			continue
		}
		want := strings.Join(strings.Fields(query.Strip(alike)), " ")
		require.Equal(t, want, strings.Join(strings.Fields(query.Get(name+"_alike")), " "), "go test ./internal/crdb/query -update")
	}
}

// The statement for one row is the one for many, with a value where there was an array. PostgreSQL makes a table of each array, which for
// one row takes longer than everything else.
func TestStatementsForOneRowAreThoseForMany(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claim_insert", "allocation_insert", "event_insert", "history_insert", "answer_insert"} {
		many, err := os.ReadFile(name + ".sql")
		require.NoError(t, err)
		one := unnest.ReplaceAllStringFunc(string(many), func(from string) string {
			return "FROM (VALUES (" + arrayType.ReplaceAllString(unnest.FindStringSubmatch(from)[1], "$1") + ")) AS k"
		})
		require.NotEqual(t, string(many), one, "%s has arrays", name)
		one = rowsLine.ReplaceAllString(purpose.ReplaceAllString(one, "-- purpose: of one, "), "-- rows:    1")
		if *update {
			require.NoError(t, os.WriteFile(name+"_one.sql", []byte(one), 0o600))
			continue
		}
		want := strings.Join(strings.Fields(query.Strip(one)), " ")
		require.Equal(t, want, strings.Join(strings.Fields(query.Get(name+"_one")), " "), "go test ./internal/crdb/query -update")
	}
}
