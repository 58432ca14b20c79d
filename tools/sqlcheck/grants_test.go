package sqlcheck

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

var afterTo = regexp.MustCompile(` (TO|FROM) (.+)$`)

// The statements for roles create missing roles without a login, grant single privileges on single tables, and quote names. No role gets all
// privileges, or the right to grant.
func TestRolesGetSinglePrivileges(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for _, one := range toCockroach(t) {
		switch said := one.tree.(type) {
		case *tree.CreateRole:
			kinds["role"]++
			if !said.IfNotExists || len(said.KVOptions) > 0 || said.IsRole != true {
				t.Errorf("a role that may exist, without options: %s", one.text)
			}
		case *tree.Grant:
			kinds["grant"]++
			if said.WithGrantOption {
				t.Errorf("nobody gives on what he was given: %s", one.text)
			}
			for _, p := range said.Privileges {
				if p.DisplayName() == "ALL" {
					t.Errorf("too much: %s", one.text)
				}
			}
			if strings.Contains(one.text, "*") {
				t.Errorf("tables are named: %s", one.text)
			}
		case *tree.GrantRole:
			kinds["membership"]++
			if said.AdminOption {
				t.Errorf("nobody gives on what he was given: %s", one.text)
			}
		case *tree.Revoke:
			kinds["revoke"]++
		default:
			continue
		}
		if m := afterTo.FindStringSubmatch(one.text); m != nil && m[2] != "PUBLIC" && !strings.HasPrefix(m[2], `"`) {
			t.Errorf("a name is not quoted: %s", one.text)
		}
	}
	for _, kind := range []string{"role", "grant", "membership", "revoke"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s was found to check", kind)
		}
	}
}
