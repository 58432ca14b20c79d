package sqlcheck

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// A table has the properties of a table in the migrations that the rules need.
type table struct {
	columns    []string
	primaryKey []string
	primary    bool // all its rows are in the primary region
}

// regional reports whether each row of the table lives in a region. In that case the primary key begins with the column region. If the column region
// is not in front of the key, it is only data.
func (t table) regional() bool { return len(t.primaryKey) > 0 && t.primaryKey[0] == "region" }

type schema map[string]table

// apply applies the migrations' statements in order.
func (s schema) apply(statements []statement) {
	for _, one := range statements {
		switch stmt := one.tree.(type) {
		case *tree.CreateTable:
			if _, exists := s[stmt.Table.Table()]; !exists {
				s[stmt.Table.Table()] = tableOf(stmt.Defs)
			}
		case *tree.DropTable:
			for _, name := range stmt.Names {
				delete(s, name.Table())
			}
		case *tree.AlterTable:
			name := stmt.Table.Parts[0]
			s[name] = s[name].altered(stmt.Cmds)
		}
	}
}

func tableOf(definitions tree.TableDefs) table {
	var made table
	for _, definition := range definitions {
		switch def := definition.(type) {
		case *tree.ColumnTableDef:
			made.columns = append(made.columns, string(def.Name))
			if def.PrimaryKey.IsPrimaryKey {
				made.primaryKey = []string{string(def.Name)}
			}
		case *tree.UniqueConstraintTableDef:
			if def.PrimaryKey {
				made.primaryKey = columnsOf(def.Columns)
			}
		}
	}
	return made
}

func (t table) altered(commands tree.AlterTableCmds) table {
	for _, command := range commands {
		switch cmd := command.(type) {
		case *tree.AlterTableAddColumn:
			t.columns = append(slices.Clone(t.columns), string(cmd.ColumnDef.Name))
		case *tree.AlterTableDropColumn:
			t.columns = slices.DeleteFunc(slices.Clone(t.columns), func(name string) bool { return name == string(cmd.Column) })
		case *tree.AlterTableAddConstraint:
			if def, ok := cmd.ConstraintDef.(*tree.UniqueConstraintTableDef); ok && def.PrimaryKey {
				t.primaryKey = columnsOf(def.Columns)
			}
		}
	}
	return t
}

func columnsOf(elements tree.IndexElemList) []string {
	var names []string
	for _, element := range elements {
		names = append(names, string(element.Column)) // empty for an expression
	}
	return names
}
