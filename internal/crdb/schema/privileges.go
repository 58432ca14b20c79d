package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// ErrPrivileges says that the database user lacks what it is there for.
var ErrPrivileges = errors.New("the database user lacks privileges")

// UserStanding is what a database user may do, beside what a role may.
type UserStanding struct {
	User string
	// More is what it may do and the role may not; empty: the user is what the role is.
	More []string
	// Retains reports whether it may delete what retention deletes.
	Retains bool
}

// CheckUser answers ErrPrivileges, with what is missing and what gives it, unless the database's user may do all that a role may; ErrBehind when
// there is no table of such a name.
func CheckUser(ctx context.Context, dsn string, r Role) (UserStanding, error) {
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return UserStanding{}, err
	}
	c, err := pgx.ConnectConfig(ctx, cfg)
	if denied(err) {
		return UserStanding{}, lacking(cfg.User, r, []string{"CONNECT on the database " + cfg.Database})
	}
	if err != nil {
		return UserStanding{}, fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return CheckUserOn(ctx, c, r)
}

// CheckUserOn is CheckUser on a connection.
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
		return st, fmt.Errorf("cannot ask the database what its user may do: %w", err)
	}
	if schema == "" { // PostgreSQL leaves out the schemas that a user may not look into
		return st, lacking(st.User, r, []string{"USAGE on the schema public"})
	}
	may, err := mayDo(ctx, eng, c)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return st, ErrBehind
	}
	if err != nil {
		return st, fmt.Errorf("cannot ask the database what its user may do: %w", err)
	}
	var lacks []string
	need := map[privilege]bool{}
	for _, p := range r.needs() {
		need[p] = true
		if !may[p] {
			lacks = append(lacks, p.String())
		}
	}
	if len(lacks) > 0 {
		return st, lacking(st.User, r, lacks)
	}
	st.Retains = true
	for _, p := range RetentionRole.needs() {
		st.Retains = st.Retains && may[p]
	}
	var owns bool
	st.More, owns = beyond(ctx, eng, c)
	if owns {
		return st, nil // and may do everything with the tables
	}
	for _, s := range byPrivileges(without(may, need)) {
		st.More = append(st.More, s.said())
	}
	return st, nil
}

// beyond is what the user may do beside what tables it may write. It has what it needs: an engine that does not answer this is no reason to refuse it.
func beyond(ctx context.Context, eng engine, c *pgx.Conn) (more []string, owns bool) {
	more, err := eng.more(ctx, c)
	if err == nil {
		err = c.QueryRow(ctx, askOwner).Scan(&owns)
	}
	if err != nil {
		more = append(more, "what else could not be asked: "+err.Error())
	}
	if owns {
		more = append(more, "it owns the tables")
	}
	return more, owns
}

// mayDo is all that the user may do with Carve's tables.
func mayDo(ctx context.Context, eng engine, c *pgx.Conn) (map[privilege]bool, error) {
	var tables, names []string
	for _, g := range Grants() {
		for _, n := range eng.privileges() {
			tables, names = append(tables, g.Table), append(names, n)
		}
	}
	may := map[privilege]bool{}
	var p privilege
	err := eachRow(ctx, c, askMay, []any{tables, names}, []any{&p.table, &p.name}, func() { may[p] = true })
	return may, err
}

// shownPrivileges bounds what a refusal names: a user without any role lacks sixty.
const shownPrivileges = 6

func lacking(user string, r Role, lacks []string) error {
	shown := lacks[:min(len(lacks), shownPrivileges)]
	rest := ""
	if n := len(lacks) - len(shown); n > 0 {
		rest = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w: %q has not %s%s; `ipamctl migrate --%s-user %s`, run as the owner of the tables, gives it what is missing",
		ErrPrivileges, user, strings.Join(shown, ", "), rest, r, user)
}

func denied(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == insufficientPrivilege
}

// mayNotLook says why a user could not read which migrations were applied: there is no table for that yet, which goose then tries to make, or the user
// may not read it.
func mayNotLook(ctx context.Context, cfg *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if denied(err) {
		return lacking(cfg.User, ServerRole, []string{"CONNECT on the database " + cfg.Database})
	}
	if err != nil {
		return fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := c.QueryRow(ctx, askVersioned).Scan(&there); err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	if !there {
		return ErrBehind
	}
	return lacking(cfg.User, ServerRole, []string{"SELECT on goose_db_version"})
}
