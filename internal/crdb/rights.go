package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/restored"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The kinds of rights.
const (
	rightProject = "project"
	RightKey     = "API key"
	RightMember  = "member"
	RightGrant   = "grant"
	RightQuota   = "quota"
)

// undefinedTable is the SQLSTATE for a missing table.
const undefinedTable = "42P01"

// Right is an API key, a member, a grant, a quota or a project. A restore compares the rights before and after it, and reports the differences.
type Right struct {
	Kind      string
	ID        ipam.ID
	ProjectID ipam.ID
	Project   string
	Name      string
	Detail    string // the role, the granted pool or space, or the limits
	Since     time.Time
}

// Rights reads all rights in a database, the newest first. It returns no rights for a database without tables.
func Rights(ctx context.Context, dsn string) ([]Right, error) {
	s, err := Open(ctx, dsn, Options{MaxConnections: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var all []Right
	err = s.inMaintenanceTx(ctx, "right_list", func(ctx context.Context, c *conn) error {
		records, err := c.Query(ctx, restored.Statement("right_list"))
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(records, func(row pgx.CollectableRow) (r Right, err error) {
			err = row.Scan(&r.Kind, &r.ID, &r.ProjectID, &r.Project, &r.Name, &r.Detail, &r.Since)
			return r, err
		})
		return err
	})
	if dial.IsState(err, undefinedTable) {
		return nil, nil
	}
	return all, err
}

// Revival lists the rights that a restore changes: the rights in the restored database that differ from the rights in the database before the
// restore.
type Revival struct {
	Revoked    []Right // keys, members and grants that were revoked and are valid again
	Lowered    []Right // members with a larger role than before; Detail is the smaller role that they had
	OfProjects []Right // keys, members and grants in projects that were deleted and are back, too
	Quotas     []Right // quotas that are back or have their old limits again
	Unset      []Right // quotas that the restored database lacks
}

// Compare finds the rights that a restore changed. before contains the rights in the replaced database, and after contains the rights in the restored
// database.
func Compare(before, after []Right) (r Revival) {
	beforeByID, afterIDs := map[ipam.ID]Right{}, map[ipam.ID]bool{}
	for _, one := range before {
		beforeByID[one.ID] = one
	}
	for _, one := range after {
		afterIDs[one.ID] = true
		old, there := beforeByID[one.ID]
		_, project := beforeByID[one.ProjectID]
		switch {
		case one.Kind == rightProject, there && old.Detail == one.Detail:
		case one.Kind == RightQuota:
			r.Quotas = append(r.Quotas, one)
		case !project:
			r.OfProjects = append(r.OfProjects, one)
		case !there:
			r.Revoked = append(r.Revoked, one)
		case one.Kind == RightMember && !tenancy.Role(old.Detail).Includes(tenancy.Role(one.Detail)):
			one.Detail = old.Detail
			r.Lowered = append(r.Lowered, one)
		}
	}
	for _, old := range before {
		if old.Kind == RightQuota && !afterIDs[old.ID] {
			r.Unset = append(r.Unset, old)
		}
	}
	return r
}

// EndRights corrects a restored database. It revokes each right in r.Revoked again, and gives each member in r.Lowered the smaller role. No server
// may run on the database.
func EndRights(ctx context.Context, dsn string, r Revival) error {
	s, err := Open(ctx, dsn, Options{MaxConnections: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	revision := ipam.NewID()
	return s.inMaintenanceTx(ctx, "right_end", func(ctx context.Context, c *conn) error {
		ended := map[string][]ipam.ID{}
		for _, one := range r.Revoked {
			ended[one.Kind] = append(ended[one.Kind], one.ID)
		}
		for kind, statement := range map[string]string{RightKey: "right_end_key", RightMember: "right_end_member", RightGrant: "right_end_grant"} {
			if _, err := c.Exec(ctx, restored.Statement(statement), ended[kind]); err != nil {
				return err
			}
		}
		for _, one := range r.Lowered {
			if _, err := c.Exec(ctx, restored.Statement("right_lower_member"), one.ID, one.Detail, revision); err != nil {
				return err
			}
		}
		return nil
	})
}
