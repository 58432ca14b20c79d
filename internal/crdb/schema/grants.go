package schema

import (
	"strings"
)

// Role is the purpose for which a program uses the database.
type Role string

// The roles. In the database, each one is a group role. Its name consists of a prefix and this word.
const (
	ServerRole    Role = "server"
	RetentionRole Role = "retention"
	ReaderRole    Role = "reader"
)

// Name returns the role's name in the database. Each installation has its own prefix.
func (r Role) Name(prefix string) string { return prefix + "_" + string(r) }

// roles lists the roles in the order in which messages name them.
var roles = []Role{ServerRole, RetentionRole, ReaderRole}

// privilege is one privilege on a table.
type privilege struct{ table, name string }

func (p privilege) String() string { return p.name + " on " + p.table }

// requiredPrivileges returns a role's privileges, by table and in the order of Tables.
func (r Role) requiredPrivileges() (out []privilege) {
	for _, t := range Tables() {
		granted := map[Role]string{ServerRole: t.Server, RetentionRole: t.Retention, ReaderRole: t.Reader}[r]
		for name := range strings.SplitSeq(granted, ", ") {
			if name != "" {
				out = append(out, privilege{t.Name, name})
			}
		}
	}
	return out
}
