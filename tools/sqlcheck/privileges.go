package sqlcheck

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// The roles that run statements, as in internal/crdb/schema/tables.go. A statement's first comments may name its roles (`-- roles: server,
// retention`). The default role is the server. The owner needs no grant.
const (
	serverRole    = "server"
	retentionRole = "retention"
	readerRole    = "reader"
	ownerRole     = "owner"
)

// Privileges in their written order.
var privilegeOrder = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// A privileges value lists the required grants: privileges by table.
type privileges map[string]map[string]bool

func (p privileges) add(table, privilege string) {
	if p[table] == nil {
		p[table] = map[string]bool{}
	}
	p[table][privilege] = true
}

func (p privileges) merge(q privileges) {
	for table, all := range q {
		for privilege := range all {
			p.add(table, privilege)
		}
	}
}

// String returns a line for each table, in order.
func (p privileges) String() string {
	var b strings.Builder
	for _, table := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s: %s\n", table, p.of(table))
	}
	return b.String()
}

func (p privileges) of(table string) string {
	var list []string
	for _, privilege := range privilegeOrder {
		if p[table][privilege] {
			list = append(list, privilege)
		}
	}
	return strings.Join(list, ", ")
}

// needed returns the privileges that a statement requires, on either engine. Every read needs SELECT. FROM is a read, and so is a condition that
// selects rows to change. New rows only need INSERT, unless ON CONFLICT or RETURNING also reads rows.
func needed(s subject) privileges {
	p := privileges{}
	made := cteNames(s)
	walk(s.tree, func(n *node) {
		switch v := n.value.(type) {
		case *tree.TableName:
			if !made[v.Table()] && !within[*tree.LockingItem](n) && !newRowsOf(n) {
				p.add(v.Table(), "SELECT")
			}
		case *tree.Insert:
			table, _ := tableIn(v.Table)
			p.add(table, "INSERT")
			if v.OnConflict != nil {
				p.add(table, "SELECT")
				if !v.OnConflict.DoNothing {
					p.add(table, "UPDATE")
				}
			}
			if _, nothing := v.Returning.(*tree.NoReturningClause); v.Returning != nil && !nothing {
				p.add(table, "SELECT")
			}
		case *tree.Update:
			table, _ := tableIn(v.Table)
			p.add(table, "UPDATE")
		case *tree.Delete:
			table, _ := tableIn(v.Table)
			p.add(table, "DELETE")
		case *tree.Select:
			for range v.Locking { // a lock on a row needs UPDATE; rows that only a condition reads are not locked
				locked := any(v.Select)
				if block, ok := v.Select.(*tree.SelectClause); ok {
					locked = block.From.Tables
				}
				walk(locked, func(inner *node) {
					if name, ok := inner.value.(*tree.TableName); ok && !made[name.Table()] {
						p.add(name.Table(), "UPDATE")
					}
				})
			}
		}
	})
	return p
}

// newRowsOf reports whether a name is the target table of an INSERT.
func newRowsOf(n *node) bool {
	up := n.parent
	if _, aliased := up.value.(*tree.AliasedTableExpr); aliased {
		up = up.parent
	}
	insert, ok := up.value.(*tree.Insert)
	if !ok {
		return false
	}
	into, _ := tableIn(insert.Table)
	name, _ := n.value.(*tree.TableName)
	return name.Table() == into
}

// rolesOf returns the roles that run a statement, from the statement's first comments.
func rolesOf(remarks map[string]string, otherwise string) []string {
	if said := remarks["roles"]; said != "" {
		return strings.Split(said, ", ")
	}
	return []string{otherwise}
}

// neededBy adds, for each role, the privileges that its statements in a folder need.
func neededBy(files fs.FS, otherwise string, byRole map[string]privileges) error {
	var failed error
	err := eachStatement(files, func(file, text string) {
		remarks, _ := readHead(text)
		statements, err := parse(text)
		if err != nil {
			failed = fmt.Errorf("%s: %w", file, err)
			return
		}
		for _, role := range rolesOf(remarks, otherwise) {
			if byRole[role] == nil {
				failed = fmt.Errorf("%s: there is no role %q", file, role)
				return
			}
			for _, one := range statements {
				byRole[role].merge(needed(subject{statement: one}))
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

var grantLine = regexp.MustCompile(`\{"([a-z_]+)", \w+, "([A-Z, ]*)", "([A-Z, ]*)", "([A-Z, ]*)", "`)

// readGrants reads each role's grants from internal/crdb/schema/tables.go.
func readGrants(source string) map[string]privileges {
	said := map[string]privileges{serverRole: {}, retentionRole: {}, readerRole: {}}
	for _, m := range grantLine.FindAllStringSubmatch(source, -1) {
		for i, role := range []string{serverRole, retentionRole, readerRole} {
			for privilege := range strings.SplitSeq(m[i+2], ", ") {
				if privilege != "" {
					said[role].add(m[1], privilege)
				}
			}
		}
	}
	return said
}
