package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// ErrPrivileges is the error for a database user that lacks a privilege for its role.
var ErrPrivileges = errors.New("the database user lacks privileges")

// UserStanding describes a database user's privileges that its role does not include.
type UserStanding struct {
	User string
	// More lists these privileges. It is empty if the user has only the role's privileges.
	More []string
	// Retains reports whether the user has all privileges for the retention role, which deletes old rows.
	Retains bool
}

// CheckUser returns ErrPrivileges if the database URL's user lacks a privilege that the role needs. The error names the missing privileges and the
// command that grants them. If a table is missing, CheckUser returns ErrBehind.
func CheckUser(ctx context.Context, dsn string, r Role) (UserStanding, error) {
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return UserStanding{}, err
	}
	c, err := connectAs(ctx, cfg, r)
	if err != nil {
		return UserStanding{}, err
	}
	defer dial.Close(ctx, c)
	return CheckUserOn(ctx, c, r)
}

// connectAs connects to the database as a user that needs a role. It returns ErrPrivileges if the user may not connect.
func connectAs(ctx context.Context, cfg *pgx.ConnConfig, r Role) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	switch {
	case denied(err):
		return nil, lacking(cfg.User, r, []string{"CONNECT on the database " + cfg.Database})
	case err != nil:
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	return c, nil
}

// CheckUserOn works like CheckUser, on an open connection.
func CheckUserOn(ctx context.Context, c *pgx.Conn, r Role) (st UserStanding, err error) {
	eng, err := detect(ctx, c)
	if err != nil {
		return st, err
	}
	if err := CheckCompatible(ctx, c); err != nil {
		return st, err
	}
	var database, schema string
	if err := c.QueryRow(ctx, askSelf).Scan(&st.User, &database, &schema); err != nil {
		return st, fmt.Errorf("cannot read the privileges of the database user: %w", err)
	}
	if schema == "" { // PostgreSQL omits a schema on which the user lacks USAGE
		return st, lacking(st.User, r, []string{"USAGE on the schema public"})
	}
	may, err := mayDo(ctx, eng, c)
	if dial.IsState(err, undefinedTable) {
		return st, ErrBehind
	}
	if err != nil {
		return st, fmt.Errorf("cannot read the privileges of the database user: %w", err)
	}
	var lacks []string
	need := map[privilege]bool{}
	for _, p := range r.requiredPrivileges() {
		need[p] = true
		if !may[p] {
			lacks = append(lacks, p.String())
		}
	}
	if len(lacks) > 0 {
		return st, lacking(st.User, r, lacks)
	}
	st.Retains = true
	for _, p := range RetentionRole.requiredPrivileges() {
		st.Retains = st.Retains && may[p]
	}
	var owns bool
	st.More, owns = extraPrivileges(ctx, eng, c)
	if owns {
		return st, nil // an owner has every privilege on the tables
	}
	for _, s := range byPrivileges(without(may, need)) {
		st.More = append(st.More, s.describe())
	}
	return st, nil
}

// extraPrivileges returns the user's privileges that are not on a table, and whether the user owns the tables. If it cannot read them, it adds the
// error to the list and does not fail. The user has all privileges that it needs, so there is no reason to refuse it.
func extraPrivileges(ctx context.Context, eng engine, c *pgx.Conn) (more []string, owns bool) {
	more, err := eng.otherPrivileges(ctx, c)
	if err == nil {
		err = c.QueryRow(ctx, askOwner).Scan(&owns)
	}
	if err != nil {
		more = append(more, "cannot read the other privileges: "+err.Error())
	}
	if owns {
		more = append(more, "it owns the tables")
	}
	return more, owns
}

// mayDo returns the privileges that the user has on Carve's tables.
func mayDo(ctx context.Context, eng engine, c *pgx.Conn) (map[privilege]bool, error) {
	var tables, names []string
	for _, g := range Tables() {
		for _, n := range eng.privileges() {
			tables, names = append(tables, g.Name), append(names, n)
		}
	}
	may := map[privilege]bool{}
	var p privilege
	err := eachRow(ctx, c, askMay, []any{tables, names}, []any{&p.table, &p.name}, func() { may[p] = true })
	return may, err
}

// shownPrivileges limits the privileges that an error names, because a user without any role lacks sixty.
const shownPrivileges = 6

func lacking(user string, r Role, lacks []string) error {
	shown := lacks[:min(len(lacks), shownPrivileges)]
	rest := ""
	if n := len(lacks) - len(shown); n > 0 {
		rest = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w: %q lacks %s%s; `ipamctl migrate --%s-user %s`, run as the owner of the tables, grants the missing privileges",
		ErrPrivileges, user, strings.Join(shown, ", "), rest, r, user)
}

func denied(err error) bool { return dial.IsState(err, insufficientPrivilege) }

// unreadableReason returns the reason why a user could not read the applied migrations. There are two cases. If the table does not exist yet, goose
// tried to create it and was refused. If the table exists, the user may not read it.
func unreadableReason(ctx context.Context, cfg *pgx.ConnConfig) error {
	c, err := connectAs(ctx, cfg, ServerRole)
	if err != nil {
		return err
	}
	defer dial.Close(ctx, c)
	var there bool
	if err := c.QueryRow(ctx, askVersioned).Scan(&there); err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if !there {
		return ErrBehind
	}
	return lacking(cfg.User, ServerRole, []string{"SELECT on goose_db_version"})
}
