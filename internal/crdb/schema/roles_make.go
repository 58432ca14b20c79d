package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// insufficientPrivilege is the SQLSTATE for a missing privilege.
const insufficientPrivilege = "42501"

// readRoles reads an installation's roles from the database.
func (o MigrateOptions) readRoles(ctx context.Context, c *pgx.Conn) (st roleState, err error) {
	if err := c.QueryRow(ctx, askSelf).Scan(&st.user, &st.database, &st.schema); err != nil {
		return st, err
	}
	if st.schema == "" {
		st.schema = "public"
	}
	if st.prefix = o.Roles.Prefix; st.prefix == "" {
		st.prefix = st.database
	}
	var groups []string
	for _, r := range roles {
		groups = append(groups, r.Name(st.prefix))
	}
	asked := append([]string{st.user}, groups...)
	for _, r := range roles {
		asked = append(asked, o.Roles.Users[r]...)
	}
	st.there = map[string]bool{}
	var found string
	var makes bool
	if err := eachRow(ctx, c, askRoles, []any{asked}, []any{&found, &makes}, func() {
		st.there[found] = true
		st.maker = st.maker || found == st.user && makes
	}); err != nil {
		return st, err
	}
	groups = slices.DeleteFunc(groups, func(n string) bool { return !st.there[n] })
	var p privilege
	st.granted = map[string]map[privilege]bool{}
	if err := eachRow(ctx, c, askGranted, []any{st.schema, groups}, []any{&found, &p.table, &p.name}, func() {
		if !IsTable(p.table) {
			return
		}
		if st.granted[found] == nil {
			st.granted[found] = map[privilege]bool{}
		}
		st.granted[found][p] = true
	}); err != nil {
		return st, err
	}
	var connects, uses bool
	st.reach = map[string][2]bool{}
	if err := eachRow(ctx, c, askReach, []any{groups, st.schema}, []any{&found, &connects, &uses}, func() { st.reach[found] = [2]bool{connects, uses} }); err != nil {
		return st, err
	}
	var user string
	st.members = map[[2]string]bool{}
	err = eachRow(ctx, c, askMembers, []any{groups}, []any{&found, &user}, func() { st.members[[2]string{found, user}] = true })
	return st, err
}

// eachRow calls visit for every row in a query's result.
func eachRow(ctx context.Context, c *pgx.Conn, sql string, args, to []any, visit func()) error {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, to, func() error { visit(); return nil })
	return err
}

// planRoles returns an error for a request that is known to be impossible, before any change. It checks this only in strict mode.
func (o MigrateOptions) planRoles(ctx context.Context, c *pgx.Conn) error {
	switch o.Roles.Mode {
	case RolesNone, RolesAuto, RolesRequire:
	default:
		return fmt.Errorf("%w: the mode %q is not one of %s, %s and none", ErrRoles, o.Roles.Mode, RolesAuto, RolesRequire)
	}
	if !o.Roles.strict() {
		return nil
	}
	st, err := o.readRoles(ctx, c)
	if err != nil {
		return fmt.Errorf("cannot read the database's roles: %w", err)
	}
	if problems := st.problems(o.Roles); len(problems) > 0 {
		return fmt.Errorf("%w: %s", ErrRoles, strings.Join(problems, ". "))
	}
	return nil
}

// maxRounds limits the rounds in which grant reads and changes the roles. Without conflicts there are three: the first creates the roles, the second
// grants privileges, and the third finds no work. The other rounds are for concurrent changes to the same roles.
const maxRounds = 20

// grant creates the roles, gives each role its privileges and revokes all others. It returns the number of statements that it ran. Each statement is
// safe to run twice.
func (o MigrateOptions) grant(ctx context.Context, eng engine, c *pgx.Conn) (done int, err error) {
	if o.Roles.Mode == RolesNone {
		return 0, nil
	}
	for n := range maxRounds {
		st, err := o.readRoles(ctx, c)
		if err != nil {
			return done, fmt.Errorf("cannot read the database's roles: %w", err)
		}
		if problems := st.problems(o.Roles); len(problems) > 0 {
			return done, o.incomplete(strings.Join(problems, ". "), nil)
		}
		steps := st.createSteps(eng)
		var remaining []string
		if len(steps) == 0 {
			if steps, remaining, err = eng.revokePublic(ctx, c, st); err != nil {
				return done, fmt.Errorf("cannot read the privileges of PUBLIC in the database: %w", err)
			}
			steps = append(st.grantSteps(o.Roles), steps...)
		}
		if len(steps) == 0 {
			o.reportPublic(st, remaining)
			return done, nil
		}
		taken, err := o.takeRoles(ctx, eng, c, steps)
		done += taken
		switch {
		case err == nil:
		case errors.Is(err, errRaced) && outcome.Pause(ctx, n, outcome.Retry):
		default:
			return done, o.incomplete(fmt.Sprintf("the user %q cannot change the roles", st.user), err)
		}
	}
	return done, o.incomplete("the grants change again and again; does another program change the same roles?", nil)
}

var errRaced = errors.New("another program changed the same role")

func (o MigrateOptions) takeRoles(ctx context.Context, eng engine, c *pgx.Conn, steps []ddl) (done int, err error) {
	for _, s := range steps {
		err := alter(ctx, c, s.sql)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && eng.isRace(pg.Code, pg.Message) {
			return done, errors.Join(errRaced, err)
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", s.sql, err)
		}
		done++
		if s.message != "" {
			o.report(s.message)
		}
	}
	return done, nil
}

// incomplete returns an error in strict mode. Otherwise it only reports the problem.
func (o MigrateOptions) incomplete(reason string, cause error) error {
	switch {
	case o.Roles.strict() && cause == nil:
		return fmt.Errorf("%w: %s", ErrRoles, reason)
	case o.Roles.strict() || cause != nil && !denied(cause):
		return fmt.Errorf("%w (fix the cause and run the same command again): %s: %w", ErrRoles, reason, cause)
	case cause != nil:
		reason += ": " + cause.Error()
	}
	o.report("the roles for servers, retention and readers are not complete: " + reason)
	return nil
}

// reportPublic reports PUBLIC's privileges that the user may not revoke.
func (o MigrateOptions) reportPublic(st roleState, remaining []string) {
	if len(remaining) == 0 {
		return
	}
	o.report(fmt.Sprintf("PUBLIC may create tables in the database, and so may a server; the user %q cannot revoke that, but the owner of the database can: %s", st.user, strings.Join(remaining, "; ")))
}
