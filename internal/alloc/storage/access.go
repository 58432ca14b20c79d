package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AccessReader reads who may do what: members, keys and grants.
type AccessReader interface {
	MemberGet(ctx context.Context, project ProjectKey, subject string) (ipam.Member, error)
	MemberList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Member, error)
	KeyGet(ctx context.Context, project ProjectKey, name string) (ipam.APIKey, error)
	KeyList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.APIKey, error)
	// AdminCount counts the admins of a project that stay admins by themselves: members, and keys that never expire.
	AdminCount(ctx context.Context, projectID ipam.ID) (int64, error)

	// GrantGet and GrantList read the grants of one pool or space, whose project is owner.
	GrantGet(ctx context.Context, owner ProjectKey, of GrantSubject, consumer string) (ipam.Grant, error)
	GrantList(ctx context.Context, owner ProjectKey, of GrantSubject, after string, limit int) ([]ipam.Grant, error)
	// Granted reports whether the pool or space is granted to the consumer, by name or to everybody.
	Granted(ctx context.Context, of GrantSubject, consumer string) (bool, error)
	// PoolListGranted answers up to limit shared pools of the owner that are granted to the consumer, by name or to everybody, and
	// carry all the labels, in order of name, after a name.
	PoolListGranted(ctx context.Context, owner, consumer string, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
}

// GrantSubject is the pool or space that a grant is of.
type GrantSubject struct {
	Kind ipam.GrantKind
	ID   ipam.ID
	Name string // for sentences
}

// AccessChanges is the part of Changes about members, keys and grants. Deletes and updates hit the revision that was read.
type AccessChanges struct {
	MemberInsert *ipam.Member
	MemberUpdate *MemberUpdate
	MemberDelete *ipam.Member

	KeyInsert *ipam.APIKey
	KeyDelete *ipam.APIKey

	GrantInsert *ipam.Grant
	GrantDelete *ipam.Grant
	// GrantsDelete removes all grants of a pool or space, however many there are.
	GrantsDelete *GrantSubject

	// AccessDelete removes all members, keys, quotas, webhooks and alert rules of a project and all grants to it, however many there are.
	AccessDelete *ipam.Project
}

// MemberUpdate replaces a member that still has revision Was.
type MemberUpdate struct {
	Was ipam.ID
	Now ipam.Member
}

// GrantsOfSpace is what the grants of a space are stored under.
func GrantsOfSpace(sp ipam.Space) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfSpace, ID: sp.UID, Name: sp.Name}
}

// GrantsOfPool is what the grants of a pool are stored under.
func GrantsOfPool(p ipam.Pool) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfPool, ID: p.UID, Name: p.Name}
}
