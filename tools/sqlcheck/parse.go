package sqlcheck

import (
	"fmt"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	// Without it the parser panics on a DO block.
	_ "github.com/cockroachdb/cockroachdb-parser/pkg/sql/plpgsql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// A statement is one parsed statement together with its text. The rules on spelling need the text, because the syntax tree does not show whether the
// text has INT8 or INT.
type statement struct {
	text string
	tree tree.Statement
}

// parse parses a whole text, which may contain several statements and comments. It never panics, even if the grammar does.
func parse(text string) (statements []statement, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			statements, err = nil, fmt.Errorf("the parser panicked: %v", cause)
		}
	}()
	parsed, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, one := range parsed {
		statements = append(statements, statement{text: one.SQL, tree: one.AST})
	}
	return statements, nil
}
