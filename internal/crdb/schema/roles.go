package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ErrRoles is Migrate's error if it cannot create the requested roles.
var ErrRoles = errors.New("the roles cannot be made")

// RoleMode selects how Migrate handles roles.
type RoleMode string

// The modes. With the zero value, Migrate does not change roles.
const (
	RolesNone    RoleMode = ""
	RolesAuto    RoleMode = "auto"    // create and grant as far as the user may, and report the rest
	RolesRequire RoleMode = "require" // as RolesAuto, but fail if anything remains to be done, if possible before the first change
)

// RoleOptions configures the roles.
type RoleOptions struct {
	Mode RoleMode
	// Prefix begins the three role names; "": the database's name. All databases in a cluster share their roles, so several installations in one
	// cluster need different prefixes.
	Prefix string
	// Users maps each role to the login users that get it. The users must exist.
	Users map[Role][]string
}

// strict reports whether incomplete roles are an error.
func (o RoleOptions) strict() bool { return o.Mode == RolesRequire }

// goodPrefix matches a prefix with which a name may begin on both engines. The characters are allowed in CockroachDB's user names, and most of them
// need no quotes in PostgreSQL. The length leaves room for the name's end, because PostgreSQL truncates a name after 63 characters.
var goodPrefix = regexp.MustCompile(`^[a-z_][a-z0-9_.-]{0,52}$`)

// roleState describes an installation's roles in a database.
type roleState struct {
	user, database, schema string          // the current user, with its database and schema
	prefix                 string          // prefix of the role names
	maker                  bool            // whether the user may create roles
	there                  map[string]bool // existing roles and login users
	granted                map[string]map[privilege]bool
	reach                  map[string][2]bool // for each role, whether it has CONNECT and USAGE
	members                map[[2]string]bool // pairs: a role, and a user that has it
}

// problems returns sentences about the steps that the user may not take. If there are none, the user can try every step.
func (st roleState) problems(o RoleOptions) (out []string) {
	if !goodPrefix.MatchString(st.prefix) || strings.HasPrefix(st.prefix, "pg_") {
		return []string{fmt.Sprintf("%q cannot begin the name of a role: a prefix has 1 to 53 of a-z, 0-9, _, - and ., and begins with a letter or _; set another one with --role-prefix", st.prefix)}
	}
	var missing []string
	for _, r := range roles {
		if n := r.Name(st.prefix); !st.there[n] {
			missing = append(missing, "CREATE ROLE "+name(n))
		}
	}
	if len(missing) > 0 && !st.maker {
		out = append(out, fmt.Sprintf("the user %q may not make roles (CREATEROLE); run %s as a user with this right, then run this command again; until then the servers' user must be the owner of the tables",
			st.user, strings.Join(missing, "; ")))
	}
	for _, r := range roles {
		for _, u := range o.Users[r] {
			switch {
			case !st.there[u]:
				out = append(out, fmt.Sprintf("the user %q does not exist; make it first, as in CREATE USER %s WITH LOGIN PASSWORD '…'", u, name(u)))
			case u == st.user:
				out = append(out, fmt.Sprintf("%q is the user that migrates: it owns the tables, so the role %s would not limit it; name another user", u, r.Name(st.prefix)))
			}
		}
	}
	return out
}

// createSteps returns the statements that create the missing roles.
func (st roleState) createSteps(eng engine) (steps []ddl) {
	for _, r := range roles {
		if n := r.Name(st.prefix); !st.there[n] {
			steps = append(steps, ddl{eng.createRole(n), "the role " + n + " was created"})
		}
	}
	return steps
}

// grantSteps returns the statements after which each role has exactly its privileges.
func (st roleState) grantSteps(o RoleOptions) (steps []ddl) {
	for _, r := range roles {
		n := r.Name(st.prefix)
		if !st.reach[n][0] {
			steps = append(steps, ddl{grantConnect(st.database, n), n + ": CONNECT on the database " + st.database})
		}
		if !st.reach[n][1] {
			steps = append(steps, ddl{"GRANT USAGE ON SCHEMA " + name(st.schema) + " TO " + name(n), n + ": USAGE on the schema " + st.schema})
		}
		need := map[privilege]bool{}
		for _, p := range r.requiredPrivileges() {
			need[p] = true
		}
		for _, s := range byPrivileges(without(st.granted[n], need)) {
			steps = append(steps, ddl{revokeTables(s.privileges, s.quoted(), n), n + ": no more " + s.describe()})
		}
		fresh := len(st.granted[n]) == 0
		for i, s := range byPrivileges(without(need, st.granted[n])) {
			line := n + ": " + s.describe()
			if fresh && i == 0 {
				line = "the role " + n + " has its privileges"
			} else if fresh { // the first sentence covers all grants to a new role
				line = ""
			}
			steps = append(steps, ddl{grantTables(s.privileges, s.quoted(), n), line})
		}
		for _, u := range o.Users[r] {
			if !st.members[[2]string{n, u}] {
				steps = append(steps, ddl{"GRANT " + name(n) + " TO " + name(u), "the user " + u + " has the role " + n})
			}
		}
	}
	return steps
}

func without(these, those map[privilege]bool) map[privilege]bool {
	rest := map[privilege]bool{}
	for p := range these {
		if !those[p] {
			rest[p] = true
		}
	}
	return rest
}

// sharing is a set of tables that need the same privilege changes. One statement makes the change for all of them.
type sharing struct {
	privileges string
	tables     []string
}

func (s sharing) describe() string { return s.privileges + " on " + strings.Join(s.tables, ", ") }

func (s sharing) quoted() string {
	names := make([]string, len(s.tables))
	for i, t := range s.tables {
		names[i] = name(t)
	}
	return strings.Join(names, ", ")
}

func byPrivileges(all map[privilege]bool) (out []sharing) {
	of := map[string][]string{}
	for p := range all {
		of[p.table] = append(of[p.table], p.name)
	}
	with := map[string][]string{}
	for table, names := range of {
		slices.SortFunc(names, func(a, b string) int { return privilegeRank(a) - privilegeRank(b) })
		with[strings.Join(names, ", ")] = append(with[strings.Join(names, ", ")], table)
	}
	for privileges, tables := range with {
		slices.Sort(tables)
		out = append(out, sharing{privileges, tables})
	}
	slices.SortFunc(out, func(a, b sharing) int { return strings.Compare(a.tables[0], b.tables[0]) })
	return out
}

// privilegeRank returns a privilege's position in a sorted list. Privileges that Carve does not use come last.
func privilegeRank(privilege string) int {
	known := []string{"SELECT", "INSERT", "UPDATE", "DELETE"}
	if i := slices.Index(known, privilege); i >= 0 {
		return i
	}
	return len(known) + int(privilege[0])
}
