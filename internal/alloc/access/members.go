package access

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Members contains the use cases for members.
type Members struct{ of kind.Kind[ipam.Member] }

func newMembers(core *usecase.Core) *Members {
	return &Members{kind.Kind[ipam.Member]{
		Core: core, Name: trail.KindMember, Op: "member", Reads: tenancy.MembersRead, Writes: tenancy.MembersWrite,
		Head: func(m *ipam.Member) *ipam.Metadata { return &m.Metadata }, Valid: ipam.ValidSubject,
		Find: func(read storage.Reader) kind.Finder[ipam.Member] { return read.MemberGet },
		Write: func(ch *storage.Changes, was, now *ipam.Member) {
			switch {
			case was == nil:
				ch.MemberInsert = now
			case now == nil:
				ch.MemberDelete = was
			default:
				ch.MemberUpdate = &storage.MemberUpdate{Was: was.Revision, Now: *now}
			}
		},
		Record:   func(m ipam.Member) *trail.Record { return trail.Recorded(m.Metadata, m.Spec) },
		Check:    func(_ storage.ProjectKey, m ipam.Member) error { return checkRole(m.Spec.Role) },
		SameSpec: func(a, b ipam.Member) bool { return a.Spec == b.Spec },
	}}
}

// ListMembers lists a project's members, by subject.
func (s *Members) ListMembers(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Member], error) {
	return s.of.List(ctx, project, "members", storage.Reader.MemberList, limit, cursor, r)
}

// GetMember reads one member.
func (s *Members) GetMember(ctx context.Context, project, subject string) (ipam.Member, error) {
	return s.of.Get(ctx, project, subject)
}

// PutMember gives a subject a role. It creates the member. If the member exists, PutMember replaces the role and sets Existed. It writes nothing if
// the role stays the same. If another request makes the same member meanwhile, the transaction runs again and finds that member.
func (s *Members) PutMember(ctx context.Context, project string, m ipam.Member, r usecase.Request) (usecase.Result[ipam.Member], error) {
	none := usecase.Result[ipam.Member]{}
	who, in, err := s.of.Enter(ctx, tenancy.MembersWrite, project)
	if err != nil {
		return none, err
	}
	if !ipam.ValidSubject(m.Name) {
		return none, ipam.Invalid("path:subject", "must be 1 to 255 characters from A-Z a-z 0-9 . _ : @ | + = -.")
	}
	if issuer, name, _ := strings.Cut(m.Name, ":"); issuer == "" || issuer == "key" || name == "" {
		return none, ipam.Invalid("path:subject", "must be the name of an OIDC issuer, a colon and the issuer's name for the subject, as in corp:alice@example.com. An API key is not a member: its own spec has its role.")
	}
	if err := checkRole(m.Spec.Role); err != nil {
		return none, err
	}
	made := ipam.Member{Metadata: s.of.NewMetadata(ipam.Metadata{Name: m.Name}, project, "", who), ProjectID: in.ID, Spec: m.Spec}
	over := func(was ipam.Member) ipam.Member {
		was.Spec = m.Spec
		return was
	}
	return s.of.Put(ctx, in, made, r, storage.Locks{}, over, func(ctx context.Context, tx storage.Tx, was, _ *ipam.Member) (storage.Changes, error) {
		if was == nil {
			return storage.Changes{}, usecase.CheckProjectExists(ctx, tx, in)
		}
		return storage.Changes{}, staysGoverned(ctx, tx, in, was.Spec.Role) // called only if the role changes
	})
}

// DeleteMember removes a member and its role.
func (s *Members) DeleteMember(ctx context.Context, project, subject string, r usecase.Request) error {
	return s.of.Remove(ctx, project, subject, r, func(ctx context.Context, tx storage.Tx, in storage.ProjectKey, m ipam.Member) error {
		return staysGoverned(ctx, tx, in, m.Spec.Role)
	})
}

// staysGoverned refuses to remove the last admin from the project "platform". It counts the admins in the transaction that removes one. So if two
// removals run concurrently, one transaction runs again and sees the other removal.
func staysGoverned(ctx context.Context, tx storage.Tx, key storage.ProjectKey, takenAway string) error {
	if key.Name != ipam.PlatformProject || takenAway != string(tenancy.Admin) {
		return nil
	}
	n, err := tx.AdminCount(ctx, key.ID)
	if err != nil || n > 1 {
		return err
	}
	return ipam.Errorf(ipam.CodeLastAdmin,
		"This is the last permanent admin of project %q. Add another one first: a member, or a key that does not expire.", key.Name)
}

// checkRole accepts only the known roles.
func checkRole(role string) error {
	if !slices.Contains(tenancy.Roles(), tenancy.Role(role)) {
		return ipam.Invalid("/spec/role", "must be viewer, consumer, provider or admin.")
	}
	return nil
}
