package crdb

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func memberIn(project storage.ProjectKey) func(pgx.Row) (ipam.Member, error) {
	return func(row pgx.Row) (ipam.Member, error) {
		m := ipam.Member{ProjectID: project.ID}
		err := row.Scan((*[16]byte)(&m.UID), &m.Name, &m.Spec.Role, &m.Generation, (*[16]byte)(&m.Revision), &m.CreatedAt, &m.UpdatedAt, &m.CreatedBy)
		normalize(&m.Metadata)
		m.Project = project.Name
		return m, err
	}
}

// MemberGet implements storage.Reader.
func (r reader) MemberGet(ctx context.Context, project storage.ProjectKey, subject string) (ipam.Member, error) {
	return one(ctx, r, "member_get", memberIn(project),
		notFound("Member %q was not found in project %q.", subject, project.Name), uuid(project.ID), subject)
}

// MemberList implements storage.Reader.
func (r reader) MemberList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Member, error) {
	return list(ctx, r, "member_list", memberIn(project), uuid(project.ID), after, limit)
}

func scanKey(row pgx.Row) (ipam.APIKey, error) {
	var k ipam.APIKey
	var expires, used *time.Time
	err := row.Scan((*[16]byte)(&k.UID), (*[16]byte)(&k.ProjectID), &k.Project, &k.Name, &k.Hash, &k.Spec.Role, &k.Spec.Description, &expires, &used,
		&k.Labels, &k.Annotations, &k.Generation, (*[16]byte)(&k.Revision), &k.CreatedAt, &k.UpdatedAt, &k.CreatedBy)
	normalize(&k.Metadata)
	k.Spec.ExpiresAt, k.LastUsedAt = sometime(expires), sometime(used)
	return k, err
}

// KeyGet implements storage.Reader.
func (r reader) KeyGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.APIKey, error) {
	return one(ctx, r, "key_get", scanKey, notFound("API key %s/%s was not found.", project.Name, name), uuid(project.ID), name)
}

// KeyList implements storage.Reader.
func (r reader) KeyList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.APIKey, error) {
	return list(ctx, r, "key_list", scanKey, uuid(project.ID), after, limit)
}

// AdminCount implements storage.Reader.
func (r reader) AdminCount(ctx context.Context, projectID ipam.ID) (int64, error) {
	return one(ctx, r, "admin_count", scanCount, notFound("The project was not found."), uuid(projectID))
}

func scanCount(row pgx.Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

func scanText(row pgx.Row) (s string, err error) {
	err = row.Scan(&s)
	return s, err
}

func grantIn(owner storage.ProjectKey) func(pgx.Row) (ipam.Grant, error) {
	return func(row pgx.Row) (ipam.Grant, error) {
		var g ipam.Grant
		err := row.Scan((*[16]byte)(&g.UID), &g.Kind, (*[16]byte)(&g.SubjectID), &g.Name, &g.Generation, (*[16]byte)(&g.Revision), &g.CreatedAt, &g.UpdatedAt, &g.CreatedBy)
		normalize(&g.Metadata)
		g.Project = owner.Name
		return g, err
	}
}

// GrantGet implements storage.Reader.
func (r reader) GrantGet(ctx context.Context, owner storage.ProjectKey, of storage.GrantSubject, consumer string) (ipam.Grant, error) {
	return one(ctx, r, "grant_get", grantIn(owner),
		notFound("Grant to %q was not found on %s %s/%s.", consumer, of.Kind, owner.Name, of.Name), uuid(of.ID), consumer)
}

// GrantList implements storage.Reader.
func (r reader) GrantList(ctx context.Context, owner storage.ProjectKey, of storage.GrantSubject, after string, limit int) ([]ipam.Grant, error) {
	return list(ctx, r, "grant_list", grantIn(owner), uuid(of.ID), after, limit)
}

// Granted implements storage.Reader.
func (r reader) Granted(ctx context.Context, of storage.GrantSubject, consumer string) (bool, error) {
	found, err := list(ctx, r, "grant_consumers", scanText, uuid(of.ID), consumers(consumer))
	return len(found) > 0, err
}

// consumers are the names that a grant to one of some projects can have.
func consumers(projects ...string) []string { return slices.Concat(projects, []string{ipam.Everybody}) }

// PoolListGranted implements storage.Reader.
func (r reader) PoolListGranted(ctx context.Context, owner, consumer string, labels map[string]string, after string, limit int) ([]ipam.Pool, error) {
	doc, err := document(labels)
	if err != nil {
		return nil, err
	}
	return list(ctx, r, "pool_list_granted", scanPool, owner, consumer, doc, after, limit)
}
