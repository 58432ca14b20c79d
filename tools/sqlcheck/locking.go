package sqlcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

func lockStrength(s subject, report report) {
	walk(s.tree, func(n *node) {
		if lock, ok := n.value.(*tree.LockingItem); ok && lock.Strength != tree.ForUpdate {
			report(lock.Strength.String())
		}
	})
}

func skipLocked(s subject, report report) {
	walk(s.tree, func(n *node) {
		query, ok := n.value.(*tree.Select)
		if !ok || !slices.ContainsFunc(query.Locking, skips) {
			return
		}
		if query.Limit == nil || query.Limit.Count == nil {
			report("SKIP LOCKED without LIMIT")
		}
		if len(query.OrderBy) == 0 {
			report("SKIP LOCKED without ORDER BY")
			return
		}
		if problem := s.alongKey(query); problem != "" {
			report(problem)
		}
	})
}

func skips(lock *tree.LockingItem) bool { return lock.WaitPolicy == tree.LockWaitSkipLocked }

// alongKey returns the reason why the ORDER BY is not one scan along the primary key, or "". It goes through the key's columns in order. Each column
// must either have one value by an equality, or be the next column of the ORDER BY. It stops when it has found all columns of the ORDER BY.
func (s subject) alongKey(query *tree.Select) string {
	block, ok := query.Select.(*tree.SelectClause)
	if !ok || len(block.From.Tables) != 1 {
		return "SKIP LOCKED over anything but one table"
	}
	name, _ := tableIn(block.From.Tables[0])
	known, ok := s.schema[name]
	if !ok {
		return fmt.Sprintf("SKIP LOCKED over %q, which no migration creates", name)
	}
	var order []string
	for _, by := range query.OrderBy {
		column, ok := by.Expr.(*tree.UnresolvedName)
		if !ok || by.Direction != query.OrderBy[0].Direction {
			return "SKIP LOCKED with an order that no key has"
		}
		order = append(order, column.Parts[0])
	}
	bound := equalColumns(block.Where)
	rest := order
	for _, column := range known.primaryKey {
		if len(rest) > 0 && rest[0] == column {
			rest = rest[1:]
		} else if !bound[column] {
			break
		}
	}
	if len(rest) > 0 {
		return fmt.Sprintf("ORDER BY %s does not walk along the key (%s)", strings.Join(order, ", "), strings.Join(known.primaryKey, ", "))
	}
	return ""
}

// equalColumns returns the columns that a condition binds to one value each.
func equalColumns(where *tree.Where) map[string]bool {
	bound := map[string]bool{}
	for _, equality := range equalities(where) {
		if equality.Operator.Symbol != treecmp.EQ { // IN and = ANY are several scans, not one
			continue
		}
		for _, pair := range [][2]tree.Expr{{equality.Left, equality.Right}, {equality.Right, equality.Left}} {
			column, ok := pair[0].(*tree.UnresolvedName)
			if _, another := pair[1].(*tree.UnresolvedName); ok && !another {
				bound[column.Parts[0]] = true
			}
		}
	}
	return bound
}
