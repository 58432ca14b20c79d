package sqlcheck

import (
	"fmt"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// cteNames returns the names of a statement's CTEs.
func cteNames(s subject) map[string]bool {
	names := map[string]bool{}
	walk(s.tree, func(n *node) {
		if cte, ok := n.value.(*tree.CTE); ok {
			names[string(cte.Name.Alias)] = true
		}
	})
	return names
}

func tables(s subject, report report) {
	made := cteNames(s)
	for name := range made {
		if _, hidden := s.schema[name]; hidden {
			report(fmt.Sprintf("the CTE %s hides the table", name))
		}
	}
	walk(s.tree, func(n *node) {
		name, ok := n.value.(*tree.TableName)
		if !ok || within[*tree.LockingItem](n) {
			return
		}
		if _, known := s.schema[name.Table()]; !known && !made[name.Table()] {
			report(fmt.Sprintf("nothing creates %s", name.Table()))
		}
	})
}

// regions checks each query block separately. A block must limit the region of every regional table in it.
func regions(s subject, report report) {
	if s.everyRegion {
		return
	}
	made := cteNames(s)
	walk(s.tree, func(n *node) {
		var b block
		switch stmt := n.value.(type) {
		case *tree.SelectClause:
			b.read(stmt.From.Tables...)
			b.where(stmt.Where)
		case *tree.Update:
			b.read(stmt.Table)
			b.read(stmt.From...)
			b.where(stmt.Where)
		case *tree.Delete:
			b.read(stmt.Table)
			b.read(stmt.Using...)
			b.where(stmt.Where)
		default:
			return
		}
		for _, alias := range b.unbound(s.schema, made) {
			report(fmt.Sprintf("the region of %s is not bound", alias))
		}
	})
}

// A block is one FROM clause with its conditions.
type block struct {
	tables     map[string]string // by alias
	conditions []tree.Expr
	using      [][2][]string // the aliases on the left and right side of a join USING (region, …)
}

func (b *block) where(condition *tree.Where) {
	if condition != nil {
		b.conditions = append(b.conditions, condition.Expr)
	}
}

// read collects tables, and the conditions of joins, which bind regions as WHERE does. It returns the aliases.
func (b *block) read(from ...tree.TableExpr) (aliases []string) {
	if b.tables == nil {
		b.tables = map[string]string{}
	}
	for _, expr := range from {
		if name, alias := tableIn(expr); name != "" {
			b.tables[alias] = name
			aliases = append(aliases, alias)
			continue
		}
		switch joined := expr.(type) {
		case *tree.ParenTableExpr:
			aliases = append(aliases, b.read(joined.Expr)...)
		case *tree.AliasedTableExpr: // a subquery or a function, which is a separate block
			aliases = append(aliases, string(joined.As.Alias))
		case *tree.JoinTableExpr:
			left, right := b.read(joined.Left), b.read(joined.Right)
			switch condition := joined.Cond.(type) {
			case *tree.OnJoinCond:
				b.conditions = append(b.conditions, condition.Expr)
			case *tree.UsingJoinCond:
				for _, column := range condition.Cols {
					if column == "region" {
						b.using = append(b.using, [2][]string{left, right})
					}
				}
			}
			aliases = append(aliases, append(left, right...)...)
		}
	}
	return aliases
}

// unbound returns the aliases of regional tables without a bound region. An equality with a value or with another bound table binds the region of a
// table. A CTE, a subquery or the outer query counts as bound, because regions checks it separately. unbound repeats this until nothing changes,
// because each bound alias can bind others.
func (b *block) unbound(s schema, made map[string]bool) []string {
	open := map[string]bool{}
	for alias, name := range b.tables {
		if !made[name] && s[name].regional() {
			open[alias] = true
		}
	}
	for changed := true; changed; {
		changed = false
		bind := func(alias string) {
			if open[alias] {
				delete(open, alias)
				changed = true
			}
		}
		for _, condition := range b.conditions {
			for _, equality := range equalitiesOf(condition) {
				b.spread(equality, open, bind)
			}
		}
		for _, pair := range b.using {
			for i, side := range pair {
				if len(side) == 1 && !open[side[0]] {
					for _, alias := range pair[1-i] {
						bind(alias)
					}
				}
			}
		}
	}
	var rest []string
	for alias := range open {
		rest = append(rest, alias)
	}
	return rest
}

func (b *block) spread(equality *tree.ComparisonExpr, open map[string]bool, bind func(string)) {
	for _, pair := range [][2]tree.Expr{{equality.Left, equality.Right}, {equality.Right, equality.Left}} {
		lefts, rights := elements(pair[0]), elements(pair[1])
		for i, left := range lefts {
			alias, ok := b.regionOf(left)
			if !ok {
				continue
			}
			if len(rights) == len(lefts) {
				if other, column := b.regionOf(rights[i]); column && open[other] {
					continue
				}
			}
			bind(alias)
		}
	}
}

func elements(expr tree.Expr) []tree.Expr {
	if row, ok := tree.StripParens(expr).(*tree.Tuple); ok {
		return row.Exprs
	}
	return []tree.Expr{tree.StripParens(expr)}
}

// regionOf returns the alias to which a region column belongs. A column without a qualifier belongs to the block's only table.
func (b *block) regionOf(expr tree.Expr) (string, bool) {
	column, ok := expr.(*tree.UnresolvedName)
	if !ok || column.Parts[0] != "region" {
		return "", false
	}
	if column.NumParts > 1 {
		return column.Parts[1], true
	}
	if len(b.tables) == 1 {
		for alias := range b.tables {
			return alias, true
		}
	}
	return "", false
}

func equalities(where *tree.Where) []*tree.ComparisonExpr {
	if where == nil {
		return nil
	}
	return equalitiesOf(where.Expr)
}

// equalitiesOf returns the comparisons that a condition certainly requires: =, IN and = ANY, joined by AND.
func equalitiesOf(expr tree.Expr) []*tree.ComparisonExpr {
	switch condition := tree.StripParens(expr).(type) {
	case *tree.AndExpr:
		return append(equalitiesOf(condition.Left), equalitiesOf(condition.Right)...)
	case *tree.ComparisonExpr:
		switch condition.Operator.Symbol {
		case treecmp.EQ, treecmp.In:
			return []*tree.ComparisonExpr{condition}
		case treecmp.Any, treecmp.Some:
			if condition.SubOperator.Symbol == treecmp.EQ {
				return []*tree.ComparisonExpr{condition}
			}
		default:
		}
	}
	return nil
}
