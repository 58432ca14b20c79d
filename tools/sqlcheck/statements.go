package sqlcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// An entry is one statement with the comments in its head.
type entry struct {
	name    string
	remarks map[string]string
	regions string
	inserts string // the table into which it inserts, if any
}

// readStatements reads all statements in a folder, in name order.
func readStatements(files fs.FS, known schema) (entries []entry, err error) {
	visited := eachStatement(files, func(file, text string) {
		remarks, _ := readHead(text)
		e := entry{name: strings.TrimSuffix(file, ".sql"), remarks: remarks}
		statements, problem := parse(text)
		if problem != nil || len(statements) != 1 {
			err = fmt.Errorf("%s: %d statements: %w", file, len(statements), problem)
			return
		}
		s := subject{statement: statements[0], schema: known}
		e.regions = touched(s, remarks["region"])
		if insert, ok := s.tree.(*tree.Insert); ok {
			e.inserts, _ = tableIn(insert.Table)
		}
		entries = append(entries, e)
	})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, errors.Join(visited, err)
}

var indexName = regexp.MustCompile(`\b[a-z][a-z0-9_]*_(?:pkey|key|idx)\b`)

// notInPlan returns the indexes that a statement's comments name and its plan does not use. If the comments name "one or another", one index in the
// plan is enough. A plan does not show the indexes that an INSERT updates, so notInPlan accepts every index of the INSERT's table.
func notInPlan(e entry, plan string, owner map[string]string) (missing []string) {
	inPlan := map[string]bool{}
	for _, name := range indexName.FindAllString(plan, -1) {
		inPlan[name] = true
	}
	for part := range strings.SplitSeq(e.remarks["index"], ",") {
		names := indexName.FindAllString(part, -1)
		found := slices.ContainsFunc(names, func(name string) bool {
			return inPlan[name] || e.inserts != "" && owner[name] == e.inserts
		})
		if either := strings.Contains(part, " or "); !found || !either {
			missing = append(missing, slices.DeleteFunc(names, func(name string) bool {
				return inPlan[name] || e.inserts != "" && owner[name] == e.inserts
			})...)
		}
	}
	return missing
}

// indexOwners maps each named index and key in the migrations to its table.
func indexOwners(files fs.FS) (map[string]string, error) {
	owner := map[string]string{}
	err := eachSQL(files, func(_, text string) {
		statements, _ := parse(text) // another test reports texts that do not parse
		for _, one := range statements {
			walk(one.tree, func(n *node) {
				switch def := n.value.(type) {
				case *tree.CreateIndex:
					owner[string(def.Name)] = def.Table.Table()
				case *tree.CreateTable:
					for _, each := range def.Defs {
						if key, ok := each.(*tree.UniqueConstraintTableDef); ok {
							owner[string(key.Name)] = def.Table.Table()
						}
					}
				}
			})
		}
	})
	return owner, err
}

var localityLine = regexp.MustCompile(`\{"([a-z_]+)", (RegionalByRow|Global|RegionalByTable), "`)

// readLocalities reads each table's locality from internal/crdb/schema/tables.go and adds it to the schema.
func (s schema) readLocalities(source string) error {
	said := map[string]string{}
	for _, match := range localityLine.FindAllStringSubmatch(source, -1) {
		said[match[1]] = match[2]
	}
	for name, table := range s {
		where, ok := said[name]
		if !ok || (where == "RegionalByRow") != table.regional() {
			return fmt.Errorf("internal/crdb/schema/tables.go says %q of %s", where, name)
		}
		table.primary = where == "RegionalByTable"
		s[name] = table
	}
	return nil
}
