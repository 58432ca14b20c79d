package sqlcheck

import (
	"fmt"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// tableIn returns the table behind an alias; empty for any other expression.
func tableIn(expr tree.TableExpr) (name, alias string) {
	switch from := expr.(type) {
	case *tree.TableName:
		return from.Table(), from.Table()
	case *tree.AliasedTableExpr:
		name, alias = tableIn(from.Expr)
		if from.As.Alias != "" {
			alias = string(from.As.Alias)
		}
		return name, alias
	case *tree.ParenTableExpr:
		return tableIn(from.Expr)
	}
	return "", ""
}

// mutated returns the table that a statement writes, if any.
func mutated(value any) (string, bool) {
	var target tree.TableExpr
	switch stmt := value.(type) {
	case *tree.Insert:
		target = stmt.Table
	case *tree.Update:
		target = stmt.Table
	case *tree.Delete:
		target = stmt.Table
	default:
		return "", false
	}
	name, _ := tableIn(target)
	return name, true
}

func oneMutation(s subject, report report) {
	seen := map[string]bool{}
	walk(s.tree, func(n *node) {
		name, ok := mutated(n.value)
		if !ok {
			return
		}
		if seen[name] {
			report(name + " is written twice")
		}
		seen[name] = true
	})
}

func insertColumns(s subject, report report) {
	walk(s.tree, func(n *node) {
		if insert, ok := n.value.(*tree.Insert); ok && len(insert.Columns) == 0 {
			report("INSERT without a list of columns")
		}
	})
}

func onConflict(s subject, report report) {
	walk(s.tree, func(n *node) {
		insert, ok := n.value.(*tree.Insert)
		if !ok || insert.OnConflict == nil {
			return
		}
		switch conflict := insert.OnConflict; {
		case conflict.IsUpsertAlias():
			report("UPSERT is CockroachDB's alone")
		case conflict.Constraint != "":
			report(fmt.Sprintf("ON CONSTRAINT %s instead of columns", conflict.Constraint))
		case len(conflict.Columns) == 0:
			report("ON CONFLICT without columns")
		}
	})
}

func mutationWhere(s subject, report report) {
	walk(s.tree, func(n *node) {
		switch stmt := n.value.(type) {
		case *tree.Update:
			if stmt.Where == nil {
				report("UPDATE of every row")
			}
		case *tree.Delete:
			if stmt.Where == nil {
				report("DELETE of every row")
			}
		}
	})
}
