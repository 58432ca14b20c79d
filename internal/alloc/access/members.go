package access

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// subjectPlace is a place in a list of members: the last subject.
type subjectPlace string

// ListMembers lists who was given a role in a project, by subject.
func (s *Access) ListMembers(ctx context.Context, project string, limit int, cursor string) (paging.Page[ipam.Member], error) {
	_, key, err := s.Enter(ctx, tenancy.MembersRead, project)
	if err != nil {
		return paging.Page[ipam.Member]{}, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf("members", key.ID), cursor, limit, func(after subjectPlace, n int) ([]ipam.Member, error) {
		if after != "" && !ipam.ValidSubject(string(after)) {
			return nil, paging.ErrBadCursor()
		}
		return s.Store.MemberList(ctx, key, string(after), n)
	}, usecase.Everything[ipam.Member], func(m ipam.Member) subjectPlace { return subjectPlace(m.Name) })
}

// GetMember reads one member.
func (s *Access) GetMember(ctx context.Context, project, subject string) (ipam.Member, error) {
	_, key, err := s.Enter(ctx, tenancy.MembersRead, project)
	if err != nil {
		return ipam.Member{}, err
	}
	return s.Store.MemberGet(ctx, key, subject)
}

// PutMember gives a subject a role: it creates the member, or replaces the role of the one there is (Existed). The role that it
// has already: nothing is written.
func (s *Access) PutMember(ctx context.Context, project string, m ipam.Member, r usecase.Request) (usecase.Result[ipam.Member], error) {
	none := usecase.Result[ipam.Member]{}
	who, key, err := s.Enter(ctx, tenancy.MembersWrite, project)
	if err != nil {
		return none, err
	}
	if !ipam.ValidSubject(m.Name) {
		return none, ipam.Invalid("path:subject", "must be 1 to 255 characters from A-Z a-z 0-9 . _ : @ | + = -.")
	}
	if issuer, name, _ := strings.Cut(m.Name, ":"); issuer == "" || issuer == "key" || name == "" {
		return none, ipam.Invalid("path:subject", "must be the name of an OIDC issuer, a colon and the issuer's name for the subject, as in corp:alice@example.com; keys have a role of their own.")
	}
	if err := checkRole(m.Spec.Role); err != nil {
		return none, err
	}
	made := ipam.Member{Metadata: s.Fresh(ipam.Metadata{Name: m.Name}, project, "", who), ProjectID: key.ID, Spec: m.Spec}
	return usecase.Settled(ctx, s.Core, "member_put", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (usecase.Result[ipam.Member], error) {
		return putMember(ctx, tx, key, made, r)
	}, func(ctx context.Context) (usecase.Result[ipam.Member], bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.MemberGet(ctx, key, made.Name))
		return usecase.Result[ipam.Member]{Value: got, Existed: got.UID != made.UID}, found && got.Revision == made.Revision, err
	})
}

// putMember is one attempt of the transaction member_put. It looks before it writes: when somebody else makes the same member
// meanwhile, the database lets it run again, and it finds that.
func putMember(ctx context.Context, tx storage.Tx, key storage.ProjectKey, made ipam.Member, r usecase.Request) (usecase.Result[ipam.Member], error) {
	was, found, err := storage.IgnoreNotFound(tx.MemberGet(ctx, key, made.Name))
	if err != nil {
		return usecase.Result[ipam.Member]{}, err
	}
	if was.Revision != made.Revision { // else it is ours, by an earlier COMMIT whose outcome was unknown
		if err := r.CheckPut(found, was.Revision); err != nil {
			return usecase.Result[ipam.Member]{}, err
		}
	}
	if !found {
		if err := usecase.StillThere(ctx, tx, key); err != nil {
			return usecase.Result[ipam.Member]{}, err
		}
		event, err := trail.Changed(ctx, made.CreatedAt, key.ID, trail.KindMember, made.Name, nil, trail.Recorded(made.Metadata, made.Spec))
		if err != nil {
			return usecase.Result[ipam.Member]{}, err
		}
		err = tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &made}, Events: []ipam.Event{event}})
		return usecase.Result[ipam.Member]{Value: made}, err
	}
	if was.Spec == made.Spec { // perhaps by an earlier COMMIT of ours whose outcome was unknown
		return usecase.Result[ipam.Member]{Value: was, Existed: was.UID != made.UID}, nil
	}
	if err := staysGoverned(ctx, tx, key, was.Spec.Role); err != nil { // made.Spec.Role is another one
		return usecase.Result[ipam.Member]{}, err
	}
	next := was
	next.Spec = made.Spec
	usecase.Touch(&next.Metadata, was.Metadata, true, made.Revision, made.UpdatedAt)
	event, err := trail.Changed(ctx, made.UpdatedAt, key.ID, trail.KindMember, made.Name, trail.Recorded(was.Metadata, was.Spec), trail.Recorded(next.Metadata, next.Spec))
	if err != nil {
		return usecase.Result[ipam.Member]{}, err
	}
	err = tx.Write(ctx, storage.Changes{
		AccessChanges: storage.AccessChanges{MemberUpdate: &storage.MemberUpdate{Was: was.Revision, Now: next}}, Events: []ipam.Event{event},
	})
	return usecase.Result[ipam.Member]{Value: next, Existed: true}, err
}

// DeleteMember takes a subject's role away.
func (s *Access) DeleteMember(ctx context.Context, project, subject string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.MembersWrite, project)
	if err != nil {
		return err
	}
	first, err := s.Store.MemberGet(ctx, key, subject)
	if err != nil {
		return err
	}
	now := s.Now()
	_, err = usecase.Settled(ctx, s.Core, "member_delete", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		m, err := tx.MemberGet(ctx, key, subject)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(m.Revision); err != nil {
			return none, err
		}
		if err := staysGoverned(ctx, tx, key, m.Spec.Role); err != nil {
			return none, err
		}
		event, err := trail.Changed(ctx, now, key.ID, trail.KindMember, subject, trail.Recorded(m.Metadata, m.Spec), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{MemberDelete: &m}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.MemberGet(ctx, key, subject))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// staysGoverned refuses to take away the last admin of the project "platform". The count is read in the transaction that takes
// one away: of two that would leave one another, one runs again and sees it.
func staysGoverned(ctx context.Context, tx storage.Tx, key storage.ProjectKey, takenAway string) error {
	if key.Name != ipam.PlatformProject || takenAway != string(tenancy.Admin) {
		return nil
	}
	n, err := tx.AdminCount(ctx, key.ID)
	if err != nil || n > 1 {
		return err
	}
	return ipam.Errorf(ipam.CodeLastAdmin,
		"This is the last admin of project %q that stays one by itself. Make somebody else an admin there first: a member, or a key that does not expire.", key.Name)
}

// checkRole demands one of the roles.
func checkRole(role string) error {
	if !slices.Contains(tenancy.Roles(), tenancy.Role(role)) {
		return ipam.Invalid("/spec/role", "must be viewer, consumer, provider or admin.")
	}
	return nil
}
