package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

func expand(t *testing.T, text string) map[string]string {
	t.Helper()
	out, err := query.Expand("s", text)
	require.NoError(t, err)
	for name := range out {
		out[name] = strings.TrimSpace(out[name])
	}
	return out
}

func TestDirectiveExpandsToTheColumnsOfAList(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-- @columns free AS f":                "f.host_bits, f.base",
		"-- @columns free":                     "host_bits, base",
		"-- @columns free, held_key AS f,":     "f.host_bits, f.base, f.id, f.revision,",
		"-- @params free FROM $3":              "$3, $4",
		"-- @set free FROM $3":                 "host_bits = $3, base = $4",
		"-- @values free FROM $2":              "k.host_bits, k.base",
		"-- @values class_texts FROM $2":       "k.labels::JSONB, k.annotations::JSONB, k.generation, k.revision, k.updated_at",
		"-- @from free FROM $2":                "FROM unnest($2::INT2[], $3::BYTEA[]) AS k (host_bits, base)",
		"-- @using held_key FROM $2":           "USING unnest($2::UUID[], $3::UUID[]) AS k (id, revision)",
		"-- @match free AS f FROM $2":          "f.host_bits = k.host_bits AND f.base = k.base",
		"-- a remark of free that is no order": "-- a remark of free that is no order",
	} {
		require.Equal(t, map[string]string{"s": want}, expand(t, line+"\n"))
	}
}

// A single row is passed as plain values. For several similar rows, only the columns that differ are passed as arrays.
func TestStatementIsExpandedIntoItsShapes(t *testing.T) {
	t.Parallel()
	const text = "-- shapes: alike, one\n-- @values free, held_key FROM $2\n-- @from free, held_key FROM $2\n"
	require.Equal(t, map[string]string{
		"s": "-- shapes: alike, one\nk.host_bits, k.base, k.id, k.revision\n" +
			"FROM unnest($2::INT2[], $3::BYTEA[], $4::UUID[], $5::UUID[]) AS k (host_bits, base, id, revision)",
		"s_alike": "-- shapes: alike, one\n$2::INT2, $3::BYTEA, k.id, k.revision\nFROM unnest($4::UUID[], $5::UUID[]) AS k (id, revision)",
		"s_one":   "-- shapes: alike, one\n$2::INT2, $3::BYTEA, $4::UUID, $5::UUID",
	}, expand(t, text))
}

// In a form with keys, the keys are passed as plain values.
func TestKeyShapesPassKeysAsValues(t *testing.T) {
	t.Parallel()
	made := expand(t, "-- shapes: keys, sure\nDELETE FROM t\n-- @using free FROM $2\nWHERE a = $1 AND\n-- @match free AS t FROM $2\n")
	require.Len(t, made, 8)
	require.Equal(t, "-- shapes: keys, sure\nDELETE FROM t\n\nWHERE a = $1 AND\n"+
		"(t.host_bits, t.base) IN (($2::INT2, $3::BYTEA), ($4::INT2, $5::BYTEA))", made["s_keys2"])
	require.Contains(t, made["s_keys8_sure"], "($16::INT2, $17::BYTEA))\nRETURNING 1\n)\nSELECT 1 / (count(*) = $18::INT8)::INT4")
	for n, want := range map[int]string{1: "free_delete_keys2", 2: "free_delete_keys2", 3: "free_delete_keys8", 32: "free_delete_keys32", 33: ""} {
		name, takes := query.KeyedForm("free_delete", n)
		require.Equal(t, want, name)
		require.Equal(t, want != "", takes >= n)
	}
	require.True(t, query.HasKeys("free_delete"))
	require.False(t, query.HasKeys("hold_insert"))
}

func TestInvalidDirectiveIsRefused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"-- @columns nothing", "-- @rows free", "-- @columns free AS f FROM 2", "-- @"} {
		_, err := query.Expand("s", line)
		require.Error(t, err, line)
	}
}

func TestRowsSelectTheFittingShape(t *testing.T) {
	t.Parallel()
	alike, differ := func(string) bool { return true }, func(c string) bool { return c != "plen" }
	for _, c := range []struct {
		name string
		n    int
		same func(string) bool
		want string
	}{
		{"hold_insert", 1, alike, "hold_insert_one"},
		{"hold_insert", 2, alike, "hold_insert_alike"},
		{"hold_insert", 2, differ, "hold_insert"},
		{"hold_delete", 1, alike, "hold_delete_one"},
		{"hold_delete", 2, alike, "hold_delete"},
		{"shard_insert", 1, alike, "shard_insert"},
	} {
		name, arrays := query.BestForm(c.name, c.n, c.same)
		require.Equal(t, c.want, name)
		require.Len(t, arrays, len(query.Columns(c.name)))
	}
}

func TestExpandedStatementHasNoDirective(t *testing.T) {
	t.Parallel()
	for name, sql := range query.All() {
		require.NotContains(t, sql, "--", name)
	}
}
