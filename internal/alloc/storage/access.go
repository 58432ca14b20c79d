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
	// AdminCount counts the lasting admins of a project: members, and keys that never expire.
	AdminCount(ctx context.Context, projectID ipam.ID) (int64, error)

	// GrantGet and GrantList read the grants for one pool or space, owned by project owner.
	GrantGet(ctx context.Context, owner ProjectKey, of GrantSubject, consumer string) (ipam.Grant, error)
	GrantList(ctx context.Context, owner ProjectKey, of GrantSubject, after string, limit int) ([]ipam.Grant, error)
	// Granted reports whether the pool or space is granted to the consumer, by name or by a grant to all.
	Granted(ctx context.Context, of GrantSubject, consumer string) (bool, error)
	// PoolListGranted returns up to limit of the owner's shared pools that carry all the labels and are granted to the consumer, by name or by a
	// grant to all. They are ordered by name and start after a name.
	PoolListGranted(ctx context.Context, owner, consumer string, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
}

// GrantSubject is the pool or space that a grant shares.
type GrantSubject struct {
	Kind ipam.GrantKind
	ID   ipam.ID
	Name string // for error texts
}

// AccessChanges contains the changes to members, keys and grants. Deletes and updates hit the revision that was read.
type AccessChanges struct {
	MemberInsert *ipam.Member
	MemberUpdate *MemberUpdate
	MemberDelete *ipam.Member

	KeyInsert *ipam.APIKey
	KeyDelete *ipam.APIKey

	GrantInsert *ipam.Grant
	GrantDelete *ipam.Grant
	// GrantsDelete removes all grants for a pool or space, in any number.
	GrantsDelete *GrantSubject

	// AccessDelete removes a project's members, keys, quotas, webhooks and alert rules, and all grants to it, in any number.
	AccessDelete *ipam.Project
}

// MemberUpdate replaces a member that still has revision Was.
type MemberUpdate struct {
	Was ipam.ID
	Now ipam.Member
}

// GrantsOfSpace returns the subject of a space's grants.
func GrantsOfSpace(sp ipam.Space) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfSpace, ID: sp.UID, Name: sp.Name}
}

// GrantsOfPool returns the subject of a pool's grants.
func GrantsOfPool(p ipam.Pool) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfPool, ID: p.UID, Name: p.Name}
}
