package sqlcheck

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/lexbase"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// portable lists the types that have the same values and the same sort order on both engines. The keys are CockroachDB's names.
var portable = map[string]string{
	"BOOL":                 "",
	"BYTES":                "BYTEA; addresses are 4 or 16 of them, in network order",
	"CRDB_INTERNAL_REGION": "an enum: CockroachDB's own, and made with the same name on PostgreSQL before the first migration",
	"DECIMAL":              "NUMERIC; for sums of addresses, which no integer holds",
	"INT2":                 "",
	"INT4":                 "",
	"INT8":                 "",
	"INTERVAL":             "",
	"JSONB":                "never in a key",
	"STRING":               "TEXT; the database has C collation on PostgreSQL",
	"TIMESTAMPTZ":          "microseconds on both",
	"UUID":                 "",
}

func typeNames(s subject, report report) {
	check := func(reference tree.ResolvableTypeReference) {
		if reference == nil {
			return
		}
		name := strings.ToUpper(reference.SQLString())
		if _, ok := portable[strings.TrimSuffix(name, "[]")]; !ok {
			report(fmt.Sprintf("the type %s is not on the list", name))
		}
	}
	walk(s.tree, func(n *node) {
		switch value := n.value.(type) {
		case *tree.ColumnTableDef:
			if !value.IsSerial { // the identity rule covers it
				check(value.Type)
			}
		case *tree.CastExpr:
			check(value.Type)
		case *tree.AnnotateTypeExpr:
			report("type annotations (:::) exist on CockroachDB alone: cast with ::")
		}
	})
}

// unsized lists the names of integer types that do not show their size. It has the keywords, so a string or a quoted name with the same spelling does
// not count.
var unsized = map[int32]string{
	lexbase.GetKeywordID("int"):      "INT",
	lexbase.GetKeywordID("integer"):  "INTEGER",
	lexbase.GetKeywordID("bigint"):   "BIGINT",
	lexbase.GetKeywordID("smallint"): "SMALLINT",
}

func integerSizes(s subject, report report) {
	tokens, ok := parser.Tokens(s.text)
	if !ok {
		report("the text does not scan")
	}
	for _, token := range tokens {
		if word, found := unsized[token.TokenID]; found {
			report(word + " does not say its size")
		}
	}
}
