package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AccessReader reads access rights: members, keys and grants.
type AccessReader interface {
	MemberGet(ctx context.Context, project ProjectKey, subject string) (ipam.Member, error)
	MemberList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Member, error)
	KeyGet(ctx context.Context, project ProjectKey, name string) (ipam.APIKey, error)
	KeyList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.APIKey, error)
	// AdminCount counts a project's permanent admins: members, and API keys that never expire.
	AdminCount(ctx context.Context, projectID ipam.ID) (int64, error)

	// GrantGet and GrantList read the grants to one pool or space. owner is the project that owns the pool or space.
	GrantGet(ctx context.Context, owner ProjectKey, of GrantSubject, consumer string) (ipam.Grant, error)
	GrantList(ctx context.Context, owner ProjectKey, of GrantSubject, after string, limit int) ([]ipam.Grant, error)
	// Granted reports whether a grant lets the consumer project use the pool or space. The grant names this project, or all projects.
	Granted(ctx context.Context, of GrantSubject, consumer string) (bool, error)
	// PoolListGranted returns up to limit shared pools that the owner has, that have all the labels, and that are granted to the consumer project.
	// The grant names this project, or all projects. The pools are in name order, after a name.
	PoolListGranted(ctx context.Context, owner, consumer string, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
}

// GrantSubject is the pool or space that a grant shares.
type GrantSubject struct {
	Kind ipam.GrantKind
	ID   ipam.ID
	Name string // for error texts
}

// AccessChanges contains the changes to members, keys and grants. Deletes and updates require the revision that was read.
type AccessChanges struct {
	MemberInsert *ipam.Member
	MemberUpdate *MemberUpdate
	MemberDelete *ipam.Member

	KeyInsert *ipam.APIKey
	KeyDelete *ipam.APIKey

	GrantInsert *ipam.Grant
	GrantDelete *ipam.Grant
	// GrantsDelete removes all grants to a pool or space.
	GrantsDelete *GrantSubject

	// AccessDelete removes a project's members, keys, quotas, webhooks and alert rules, and all grants to it.
	AccessDelete *ipam.Project
}

// MemberUpdate replaces a member that still has revision Was.
type MemberUpdate struct {
	Was ipam.ID
	Now ipam.Member
}

// GrantsOfSpace returns a space as the subject of its grants.
func GrantsOfSpace(sp ipam.Space) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfSpace, ID: sp.UID, Name: sp.Name}
}

// GrantsOfPool returns a pool as the subject of its grants.
func GrantsOfPool(p ipam.Pool) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfPool, ID: p.UID, Name: p.Name}
}
