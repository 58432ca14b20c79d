package sqlcheck

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// Results of touched.
const (
	oneRegion     = "own"
	regionsOfRows = "those of its rows"
	globalOnly    = "none: GLOBAL"
	globalWrite   = "every, to write GLOBAL"
	primaryRegion = "primary"
)

// touched describes the regions in which a statement reads or writes rows. That is the region in its parameters, the regions of its rows, or none. A
// read of GLOBAL tables has no region, because every region has a full copy. A write to a GLOBAL table involves every region. A few tables have all
// their rows in the primary region.
func touched(s subject, remark string) string {
	if reason, every := strings.CutPrefix(remark, "every, because "); every {
		return "every: " + reason
	}
	local, several, primary, writesGlobal := false, false, false, false
	walk(s.tree, func(n *node) {
		if name, ok := mutated(n.value); ok && !s.schema[name].regional() && !s.schema[name].primary {
			writesGlobal = true
		}
		switch v := n.value.(type) {
		case *tree.TableName:
			local = local || s.schema[v.Table()].regional() && !within[*tree.LockingItem](n)
			primary = primary || s.schema[v.Table()].primary
		case *tree.ComparisonExpr:
			several = several || comparesRows(v, regionalAliases(s))
		case *tree.Insert:
			several = several || insertsOfRows(v)
		}
	})
	var said []string
	switch {
	case local && several:
		said = append(said, regionsOfRows)
	case local:
		said = append(said, oneRegion)
	}
	if primary {
		said = append(said, primaryRegion)
	}
	if writesGlobal {
		said = append(said, globalWrite)
	}
	if len(said) == 0 {
		return globalOnly
	}
	return strings.Join(said, "; ")
}

// regionalAliases returns the aliases of regional tables in a statement.
func regionalAliases(s subject) map[string]bool {
	aliases := map[string]bool{}
	walk(s.tree, func(n *node) {
		if from, ok := n.value.(tree.TableExpr); ok {
			if name, alias := tableIn(from); s.schema[name].regional() {
				aliases[alias] = true
			}
		}
	})
	return aliases
}

// comparesRows reports whether a comparison can match several regions. It then compares the region of a regional table with a list, or with a column
// of another table.
func comparesRows(c *tree.ComparisonExpr, regional map[string]bool) bool {
	for _, pair := range [][2]tree.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
		column, ok := pair[0].(*tree.UnresolvedName)
		if !ok || column.Parts[0] != "region" || column.NumParts > 1 && !regional[column.Parts[1]] {
			continue
		}
		switch other := uncast(pair[1]).(type) {
		case *tree.UnresolvedName:
			return other.NumParts > 1 && !regional[other.Parts[1]]
		case *tree.Placeholder:
			return c.Operator.Symbol != treecmp.EQ
		default: // a list or a subquery
			return true
		}
	}
	return false
}

// insertsOfRows reports whether an INSERT takes the regions of its new rows from other rows.
func insertsOfRows(insert *tree.Insert) bool {
	block, ok := insert.Rows.Select.(*tree.SelectClause)
	if !ok {
		return false
	}
	for i, name := range insert.Columns {
		if name == "region" && i < len(block.Exprs) {
			_, column := uncast(block.Exprs[i].Expr).(*tree.UnresolvedName)
			return column
		}
	}
	return false
}

func uncast(e tree.Expr) tree.Expr {
	e = tree.StripParens(e)
	if cast, ok := e.(*tree.CastExpr); ok {
		return uncast(cast.Expr)
	}
	return e
}
