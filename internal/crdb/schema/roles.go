package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ErrRoles says that the roles are not, and cannot be made, what was asked for.
var ErrRoles = errors.New("the roles cannot be made")

// RoleMode says what migrating does about roles.
type RoleMode string

// The modes. The zero value leaves roles alone.
const (
	RolesNone    RoleMode = ""
	RolesAuto    RoleMode = "auto"    // make and grant what the user may; say what somebody else has to do
	RolesRequire RoleMode = "require" // the same, and fail, before anything is changed where that can be known, if something is left
)

// RoleOptions are what migrating is told about roles.
type RoleOptions struct {
	Mode RoleMode
	// Prefix of the three names, so that several installations can share a cluster, where roles are the cluster's; empty: the name of the database.
	Prefix string
	// Users are login users that get a role. They have to exist.
	Users map[Role][]string
}

// strict reports whether everything has to come out as asked for.
func (o RoleOptions) strict() bool { return o.Mode == RolesRequire }

// CockroachDB's user names are these; in PostgreSQL they need no quotes, or nearly. A name has at most 63 characters, and PostgreSQL cuts off the rest.
var goodPrefix = regexp.MustCompile(`^[a-z_][a-z0-9_.-]{0,52}$`)

// roleState is what a database says of the roles of an installation.
type roleState struct {
	user, database, schema string          // who asks, and where
	prefix                 string          //
	maker                  bool            // the user may make roles
	there                  map[string]bool // roles and login users that exist
	granted                map[string]map[privilege]bool
	reach                  map[string][2]bool // CONNECT and USAGE
	members                map[[2]string]bool // role and user
}

// problems are what the user cannot do himself, in sentences. It is empty when all of it can be tried.
func (st roleState) problems(o RoleOptions) (out []string) {
	if !goodPrefix.MatchString(st.prefix) || strings.HasPrefix(st.prefix, "pg_") {
		return []string{fmt.Sprintf("%q cannot begin the name of a role: it takes 1 to 53 of a-z, 0-9, _, - and ., and begins with a letter or _; give another with --role-prefix", st.prefix)}
	}
	var missing []string
	for _, r := range roles {
		if n := r.Name(st.prefix); !st.there[n] {
			missing = append(missing, "CREATE ROLE "+name(n))
		}
	}
	if len(missing) > 0 && !st.maker {
		out = append(out, fmt.Sprintf("the user %q may not make roles (CREATEROLE); somebody who may has to run %s, and this command has to run again then; until then the servers' user has to be the owner of the tables",
			st.user, strings.Join(missing, "; ")))
	}
	for _, r := range roles {
		for _, u := range o.Users[r] {
			switch {
			case !st.there[u]:
				out = append(out, fmt.Sprintf("there is no user %q; make it first, as in CREATE USER %s WITH LOGIN PASSWORD '…'", u, name(u)))
			case u == st.user:
				out = append(out, fmt.Sprintf("%q is the user that migrates: it owns the tables, and the role %s would take nothing from it; give the name of another user", u, r.Name(st.prefix)))
			}
		}
	}
	return out
}

// makes are the statements for the roles that are missing.
func (st roleState) makes(eng engine) (steps []ddl) {
	for _, r := range roles {
		if n := r.Name(st.prefix); !st.there[n] {
			steps = append(steps, ddl{eng.createRole(n), "the role " + n + " was made"})
		}
	}
	return steps
}

// gives are the statements that bring each role to what is to be granted to it, and to no more.
func (st roleState) gives(o RoleOptions) (steps []ddl) {
	for _, r := range roles {
		n := r.Name(st.prefix)
		if !st.reach[n][0] {
			steps = append(steps, ddl{grantConnect(st.database, n), n + ": CONNECT on the database " + st.database})
		}
		if !st.reach[n][1] {
			steps = append(steps, ddl{grantUsage(st.schema, n), n + ": USAGE on the schema " + st.schema})
		}
		need := map[privilege]bool{}
		for _, p := range r.needs() {
			need[p] = true
		}
		for _, s := range byPrivileges(without(st.granted[n], need)) {
			steps = append(steps, ddl{revokeTables(s.privileges, s.quoted(), n), n + ": no more " + s.said()})
		}
		fresh := len(st.granted[n]) == 0
		for i, s := range byPrivileges(without(need, st.granted[n])) {
			said := n + ": " + s.said()
			if fresh && i == 0 {
				said = "the role " + n + " may do what it is for"
			} else if fresh { // one sentence for all of it
				said = ""
			}
			steps = append(steps, ddl{grantTables(s.privileges, s.quoted(), n), said})
		}
		for _, u := range o.Users[r] {
			if !st.members[[2]string{n, u}] {
				steps = append(steps, ddl{grantMembership(n, u), "the user " + u + " has the role " + n})
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

// sharing are tables that get, or lose, the same privileges: one statement for all of them.
type sharing struct {
	privileges string
	tables     []string
}

func (s sharing) said() string { return s.privileges + " on " + strings.Join(s.tables, ", ") }

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
		slices.SortFunc(names, func(a, b string) int { return place(a) - place(b) })
		with[strings.Join(names, ", ")] = append(with[strings.Join(names, ", ")], table)
	}
	for privileges, tables := range with {
		slices.Sort(tables)
		out = append(out, sharing{privileges, tables})
	}
	slices.SortFunc(out, func(a, b sharing) int { return strings.Compare(a.tables[0], b.tables[0]) })
	return out
}

// place of a privilege in a list; those that are not Carve's come last.
func place(privilege string) int {
	known := []string{"SELECT", "INSERT", "UPDATE", "DELETE"}
	if i := slices.Index(known, privilege); i >= 0 {
		return i
	}
	return len(known) + int(privilege[0])
}
