package sqlcheck

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
)

func division(s subject, report report) {
	walk(s.tree, func(n *node) {
		if sum, ok := n.value.(*tree.BinaryExpr); ok {
			switch sum.Operator.Symbol {
			case treebin.Div, treebin.FloorDiv, treebin.Pow:
				if onlyFails(sum) {
					return
				}
				report(fmt.Sprintf("%s in %s", sum.Operator, sum))
			default:
			}
		}
	})
}

// onlyFails reports whether an expression divides 1 by a condition cast to a number. A false condition is 0, so the division fails on both engines. A
// true condition is 1, so the result is 1. A statement uses such a division to fail on purpose.
func onlyFails(division *tree.BinaryExpr) bool {
	whether, ok := division.Right.(*tree.CastExpr)
	if !ok || division.Operator.Symbol != treebin.Div || division.Left.String() != "1" {
		return false
	}
	inner, ok := whether.Expr.(*tree.ParenExpr)
	if !ok {
		return false
	}
	_, ok = inner.Expr.(*tree.ComparisonExpr)
	return ok
}

func bitPrecedence(s subject, report report) {
	bitwise := func(expr tree.Expr) (treebin.BinaryOperatorSymbol, bool) {
		operation, ok := expr.(*tree.BinaryExpr)
		if !ok || operation.Operator.Symbol > treebin.Bitxor {
			return 0, false
		}
		return operation.Operator.Symbol, true
	}
	walk(s.tree, func(n *node) {
		expr, ok := n.value.(tree.Expr)
		if !ok {
			return
		}
		outer, ok := bitwise(expr)
		if !ok {
			return
		}
		operation, _ := expr.(*tree.BinaryExpr)
		for _, side := range []tree.Expr{operation.Left, operation.Right} {
			if inner, ok := bitwise(side); ok && inner != outer {
				report(fmt.Sprintf("%s without parentheses", expr))
			}
		}
	})
}

// stars permits a star only in count(*).
func stars(s subject, report report) {
	walk(s.tree, func(n *node) {
		switch value := n.value.(type) {
		case tree.UnqualifiedStar:
			if _, argument := n.parent.value.(*tree.FuncExpr); !argument {
				report("* stands for columns nobody named")
			}
		case *tree.UnresolvedName:
			if value.Star {
				report(value.String() + " stands for columns nobody named")
			}
		case *tree.TupleStar, *tree.AllColumnsSelector:
			report(".* stands for columns nobody named")
		case *tree.SelectClause:
			if value.TableSelect {
				report("TABLE stands for columns nobody named")
			}
		}
	})
}

// casts requires a cast where nothing else determines the type. These places are select lists, arguments of functions, and literals in a SELECT that
// feeds an INSERT. In VALUES, WHERE and SET, both engines use the column's type.
func casts(s subject, report report) {
	walk(s.tree, func(n *node) {
		switch value := n.value.(type) {
		case *tree.Placeholder:
			if _, cast := n.parent.value.(*tree.CastExpr); cast {
				return
			}
			if typeless(n) {
				report(value.String() + " has no cast")
			}
		case *tree.StrVal:
			if _, item := n.parent.value.(tree.SelectExpr); item && feedsInsert(n) {
				report(value.String() + " has no cast in a SELECT that feeds an INSERT")
			}
		}
	})
}

// typeless reports whether nothing determines a placeholder's type. It looks at the placeholder's parent nodes.
func typeless(n *node) bool {
	for up := n.parent; up != nil; up = up.parent {
		switch up.value.(type) {
		case tree.SelectExpr, *tree.FuncExpr:
			return true
		case *tree.Where, *tree.ComparisonExpr, *tree.Limit, *tree.ValuesClause, *tree.UpdateExpr, tree.Statement:
			return false
		}
	}
	return false
}

// feedsInsert reports whether the nearest select is the source of an INSERT's rows.
func feedsInsert(n *node) bool {
	for up := n.parent; up != nil; up = up.parent {
		if chosen, ok := up.value.(*tree.Select); ok && up.parent != nil {
			insert, ok := up.parent.value.(*tree.Insert)
			return ok && insert.Rows == chosen
		}
	}
	return false
}

func familyColumn(s subject, report report) {
	walk(s.tree, func(n *node) {
		switch value := n.value.(type) {
		case tree.Name, tree.UnrestrictedName:
			if strings.EqualFold(fmt.Sprint(value), "family") {
				report("a name is family")
			}
		case *tree.UnresolvedName:
			if strings.EqualFold(value.Parts[0], "family") {
				report("a name is family: " + value.String())
			}
		}
	})
}

var systemColumns = map[string]bool{
	"cmax": true, "cmin": true, "crdb_internal_mvcc_timestamp": true, "crdb_internal_origin_id": true,
	"crdb_internal_origin_timestamp": true, "ctid": true, "tableoid": true, "xmax": true, "xmin": true,
}

var systemSchemas = map[string]bool{
	"crdb_internal": true, "information_schema": true, "pg_catalog": true, "pg_extension": true, "system": true,
}

func systemNames(s subject, report report) {
	walk(s.tree, func(n *node) {
		switch value := n.value.(type) {
		case *tree.UnresolvedName:
			if systemColumns[strings.ToLower(value.Parts[0])] && !within[tree.ResolvableFunctionReference](n) {
				report(value.String() + " is a column of the engine's")
			}
		case *tree.TableName:
			if systemSchemas[strings.ToLower(value.Schema())] || strings.HasPrefix(strings.ToLower(value.Table()), "pg_") {
				report(value.String() + " is a table of the engine's")
			}
		}
	})
}
