package sqlcheck

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// allowed lists the functions with the same meaning on both engines, with remarks. Before you add a function, read both manuals, and add a remark.
// The list omits these functions on purpose:
//   - now() and similar functions, because the caller gives a transaction its time, so that a retry gets the same time
//   - gen_random_uuid(), for the same reason
//   - avg(), because the scales of the results differ
//   - every hash, because CockroachDB returns hexadecimal
//   - advisory locks, because they have no effect on CockroachDB up to 26.2
//   - sequences and notifications
var allowed = map[string]string{
	"clock_timestamp":           "another time at each call: for a statement that needs no single time for its rows",
	"count":                     "INT8 on both",
	"decode":                    "of hex",
	"encode":                    "to hex",
	"get_byte":                  "counts from 0; INT4 or INT8 by engine",
	"first_value":               "of a window that is in order",
	"jsonb_array_elements":      "in FROM, of arrays alone: an error for anything else on both",
	"jsonb_array_elements_text": "likewise; a string without its quotes",
	"jsonb_set":                 "",
	"lag":                       "NULL before the first row",
	"lead":                      "NULL after the last row",
	"length":                    "of BYTEA: bytes; INT4 or INT8 by engine",
	"lower":                     "of ASCII",
	"max":                       "not of BYTEA: missing on PostgreSQL 15",
	"min":                       "not of BYTEA",
	"octet_length":              "INT4 or INT8 by engine",
	"repeat":                    "of TEXT",
	"row_number":                "",
	"set_byte":                  "counts from 0",
	"split_part":                "counts from 1",
	"substring":                 "of BYTEA counts from 1",
	"sum":                       "of INT8 and DECIMAL: DECIMAL on both; of INT2 and INT4: INT8 on PostgreSQL, DECIMAL on CockroachDB",
	"unnest":                    "in FROM, of arrays of one dimension; WITH ORDINALITY on both",
}

func functions(s subject, report report) {
	walk(s.tree, func(n *node) {
		call, ok := n.value.(*tree.FuncExpr)
		if !ok {
			return
		}
		name := strings.ToLower(call.Func.String())
		if _, known := allowed[name]; !known {
			report(fmt.Sprintf("%s() is not on the list", name))
		}
	})
}
