package sqlcheck

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

func queryKind(s subject, report report) {
	switch s.tree.(type) {
	case *tree.Select, *tree.Insert, *tree.Update, *tree.Delete:
	default:
		report(s.tree.StatementTag())
	}
}

func migrationKind(s subject, report report) {
	switch stmt := s.tree.(type) {
	case *tree.CreateTable:
		if stmt.AsSource != nil {
			report("CREATE TABLE AS")
		}
	case *tree.CreateIndex, *tree.AlterTable, *tree.DropTable, *tree.DropIndex, *tree.RenameColumn,
		*tree.CommentOnTable, *tree.CommentOnColumn, *tree.CommentOnIndex, *tree.CommentOnConstraint,
		*tree.Insert, *tree.Update, *tree.Delete:
	default:
		report(s.tree.StatementTag())
	}
}

func constraintNames(s subject, report report) {
	unnamed := func(name tree.Name, what string) {
		if name == "" {
			report(what + " has no name")
		}
	}
	walk(s.tree, func(n *node) {
		switch def := n.value.(type) {
		case *tree.CreateIndex:
			unnamed(def.Name, "the index on "+def.Table.Table())
		case *tree.UniqueConstraintTableDef:
			unnamed(def.Name, fmt.Sprintf("the key (%s)", strings.Join(columnsOf(def.Columns), ", ")))
		case *tree.ForeignKeyConstraintTableDef:
			unnamed(def.Name, "the foreign key to "+def.Table.Table())
		case *tree.CheckConstraintTableDef:
			unnamed(def.Name, "the check "+def.Expr.String())
		case *tree.ColumnTableDef:
			if def.PrimaryKey.IsPrimaryKey {
				report(fmt.Sprintf("the primary key on %s: name it as a constraint of the table", def.Name))
			}
			if def.Unique.IsUnique {
				unnamed(def.Unique.ConstraintName, "the unique column "+string(def.Name))
			}
			if def.References.Table != nil {
				unnamed(def.References.ConstraintName, "the reference of "+string(def.Name))
			}
			for _, check := range def.CheckExprs {
				unnamed(check.ConstraintName, "the check of "+string(def.Name))
			}
		}
	})
}

func idempotent(s subject, report report) {
	need := func(said bool, what string) {
		if !said {
			report(what)
		}
	}
	walk(s.tree, func(n *node) {
		switch stmt := n.value.(type) {
		case *tree.CreateTable:
			need(stmt.IfNotExists, "CREATE TABLE without IF NOT EXISTS")
		case *tree.CreateIndex:
			need(stmt.IfNotExists, "CREATE INDEX without IF NOT EXISTS")
		case *tree.DropTable:
			need(stmt.IfExists, "DROP TABLE without IF EXISTS")
		case *tree.DropIndex:
			need(stmt.IfExists, "DROP INDEX without IF EXISTS")
		case *tree.AlterTableAddColumn:
			need(stmt.IfNotExists, "ADD COLUMN without IF NOT EXISTS")
			need(len(stmt.ColumnDef.CheckExprs) == 0 && stmt.ColumnDef.References.Table == nil, "ADD COLUMN with a constraint, which CockroachDB makes apart, and again where the column is there already: "+
				"DROP CONSTRAINT IF EXISTS and ADD CONSTRAINT as statements of their own")
		case *tree.AlterTableDropColumn:
			need(stmt.IfExists, "DROP COLUMN without IF EXISTS")
		case *tree.AlterTableDropConstraint:
			need(stmt.IfExists, "DROP CONSTRAINT without IF EXISTS")
		}
	})
}

func identity(s subject, report report) {
	walk(s.tree, func(n *node) {
		def, ok := n.value.(*tree.ColumnTableDef)
		if !ok {
			return
		}
		if def.IsSerial {
			report(string(def.Name) + " is SERIAL")
		}
		if def.GeneratedIdentity.IsGeneratedAsIdentity {
			report(string(def.Name) + " is GENERATED AS IDENTITY")
		}
	})
}

func columnTypeChange(s subject, report report) {
	walk(s.tree, func(n *node) {
		if change, ok := n.value.(*tree.AlterTableAlterColumnType); ok {
			report("the type of " + string(change.Column) + " changes")
		}
	})
}

func regionFirst(s subject, report report) {
	check := func(known table, columns []string, name string) {
		if known.regional() && len(columns) > 0 && columns[0] != "region" {
			report(fmt.Sprintf("%s begins with %q", name, columns[0]))
		}
	}
	walk(s.tree, func(n *node) {
		switch def := n.value.(type) {
		case *tree.CreateTable:
			known := tableOf(def.Defs)
			for _, each := range def.Defs {
				switch key := each.(type) {
				case *tree.UniqueConstraintTableDef:
					check(known, columnsOf(key.Columns), "the key "+string(key.Name))
				case *tree.ColumnTableDef:
					if key.Unique.IsUnique {
						check(known, []string{string(key.Name)}, "the unique column")
					}
				}
			}
		case *tree.CreateIndex:
			check(s.schema[def.Table.Table()], columnsOf(def.Columns), "the index "+string(def.Name))
		case *tree.AlterTable:
			for _, command := range def.Cmds {
				if add, ok := command.(*tree.AlterTableAddConstraint); ok {
					if key, ok := add.ConstraintDef.(*tree.UniqueConstraintTableDef); ok {
						check(s.schema[def.Table.Parts[0]], columnsOf(key.Columns), "the key "+string(key.Name))
					}
				}
			}
		}
	})
}
