package lookup

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func memberIn(project storage.ProjectKey) pgx.RowToFunc[ipam.Member] {
	return func(row pgx.CollectableRow) (ipam.Member, error) {
		m, err := rows.Members.Scan(row)
		m.Project, m.ProjectID = project.Name, project.ID
		return m, err
	}
}

// MemberGet implements storage.Reader.
func (r Reader) MemberGet(ctx context.Context, project storage.ProjectKey, subject string) (ipam.Member, error) {
	return readOne(ctx, r, "member_get", memberIn(project),
		NotFound("Member %q was not found in project %q.", subject, project.Name), project.ID, subject)
}

// MemberList implements storage.Reader.
func (r Reader) MemberList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Member, error) {
	return List(ctx, r, "member_list", memberIn(project), project.ID, after, limit)
}

// KeyGet implements storage.Reader.
func (r Reader) KeyGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.APIKey, error) {
	return readOne(ctx, r, "key_get", rows.Keys.Scan, NotFound("API key %s/%s was not found.", project.Name, name), project.ID, name)
}

// KeyList implements storage.Reader.
func (r Reader) KeyList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.APIKey, error) {
	return List(ctx, r, "key_list", rows.Keys.Scan, project.ID, after, limit)
}

// AdminCount implements storage.Reader.
func (r Reader) AdminCount(ctx context.Context, projectID ipam.ID) (int64, error) {
	return exactlyOne(ctx, r, "admin_count", pgx.RowTo[int64], projectID)
}

func grantIn(owner storage.ProjectKey) pgx.RowToFunc[ipam.Grant] {
	return func(row pgx.CollectableRow) (ipam.Grant, error) {
		g, err := rows.Grants.Scan(row)
		g.Project = owner.Name
		return g, err
	}
}

// GrantGet implements storage.Reader.
func (r Reader) GrantGet(ctx context.Context, owner storage.ProjectKey, of storage.GrantSubject, consumer string) (ipam.Grant, error) {
	return readOne(ctx, r, "grant_get", grantIn(owner),
		NotFound("Grant to %q was not found on %s %s/%s.", consumer, of.Kind, owner.Name, of.Name), of.ID, consumer)
}

// GrantList implements storage.Reader.
func (r Reader) GrantList(ctx context.Context, owner storage.ProjectKey, of storage.GrantSubject, after string, limit int) ([]ipam.Grant, error) {
	return List(ctx, r, "grant_list", grantIn(owner), of.ID, after, limit)
}

// Granted implements storage.Reader.
func (r Reader) Granted(ctx context.Context, of storage.GrantSubject, consumer string) (bool, error) {
	found, err := List(ctx, r, "grant_consumers", pgx.RowTo[string], of.ID, consumerNames(consumer))
	return len(found) > 0, err
}

// consumerNames returns the names under which a grant can include a project: the projects' own names, and the name that stands for all projects.
func consumerNames(projects ...string) []string {
	return slices.Concat(projects, []string{ipam.Everybody})
}

// PoolListGranted implements storage.Reader.
func (r Reader) PoolListGranted(ctx context.Context, owner, consumer string, labels map[string]string, after string, limit int) ([]ipam.Pool, error) {
	doc, err := rows.Document(labels)
	if err != nil {
		return nil, err
	}
	return List(ctx, r, "pool_list_granted", rows.Pools.Scan, owner, consumer, doc, after, limit)
}
