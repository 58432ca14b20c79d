package alloc

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// subjectPlace is a place in a list of members: the last subject.
type subjectPlace string

// ListMembers lists who was given a role in a project, by subject.
func (s *Service) ListMembers(ctx context.Context, project string, limit int, cursor string) (Page[ipam.Member], error) {
	_, key, err := s.enter(ctx, tenancy.MembersRead, project)
	if err != nil {
		return Page[ipam.Member]{}, err
	}
	return scan(ctx, s.searching, listOf("members", key.ID), cursor, limit, func(after subjectPlace, n int) ([]ipam.Member, error) {
		if after != "" && !ipam.ValidSubject(string(after)) {
			return nil, errBadCursor()
		}
		return s.store.MemberList(ctx, key, string(after), n)
	}, everything[ipam.Member], func(m ipam.Member) subjectPlace { return subjectPlace(m.Name) })
}

// everything is the filter of lists that have none.
func everything[T any](*T) bool { return true }

// GetMember reads one member.
func (s *Service) GetMember(ctx context.Context, project, subject string) (ipam.Member, error) {
	_, key, err := s.enter(ctx, tenancy.MembersRead, project)
	if err != nil {
		return ipam.Member{}, err
	}
	return s.store.MemberGet(ctx, key, subject)
}

// PutMember gives a subject a role: it creates the member, or replaces the role of the one there is (Existed). The role that it
// has already: nothing is written.
func (s *Service) PutMember(ctx context.Context, project string, m ipam.Member, r Request) (Result[ipam.Member], error) {
	none := Result[ipam.Member]{}
	who, key, err := s.enter(ctx, tenancy.MembersWrite, project)
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
	made := ipam.Member{Metadata: s.fresh(ipam.Metadata{Name: m.Name}, project, "", who), ProjectID: key.ID, Spec: m.Spec}
	return settled(ctx, s, "member_put", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (Result[ipam.Member], error) {
		return putMember(ctx, tx, key, made, r)
	}, func(ctx context.Context) (Result[ipam.Member], bool, error) {
		got, found, err := ignoreNotFound(s.store.MemberGet(ctx, key, made.Name))
		return Result[ipam.Member]{Value: got, Existed: got.UID != made.UID}, found && got.Revision == made.Revision, err
	})
}

// putMember is one attempt of the transaction member_put. It looks before it writes: when somebody else makes the same member
// meanwhile, the database lets it run again, and it finds that.
func putMember(ctx context.Context, tx Tx, key ProjectKey, made ipam.Member, r Request) (Result[ipam.Member], error) {
	was, found, err := ignoreNotFound(tx.MemberGet(ctx, key, made.Name))
	if err != nil {
		return Result[ipam.Member]{}, err
	}
	if was.Revision != made.Revision { // else it is ours, by an earlier COMMIT whose outcome was unknown
		if err := r.checkPut(found, was.Revision); err != nil {
			return Result[ipam.Member]{}, err
		}
	}
	if !found {
		if err := stillThere(ctx, tx, key); err != nil {
			return Result[ipam.Member]{}, err
		}
		event, err := changed(ctx, made.CreatedAt, key.ID, kindMember, made.Name, nil, recorded(made.Metadata, made.Spec))
		if err != nil {
			return Result[ipam.Member]{}, err
		}
		err = tx.Write(ctx, Changes{AccessChanges: AccessChanges{MemberInsert: &made}, Events: []ipam.Event{event}})
		return Result[ipam.Member]{Value: made}, err
	}
	if was.Spec == made.Spec { // perhaps by an earlier COMMIT of ours whose outcome was unknown
		return Result[ipam.Member]{Value: was, Existed: was.UID != made.UID}, nil
	}
	if err := staysGoverned(ctx, tx, key, was.Spec.Role); err != nil { // made.Spec.Role is another one
		return Result[ipam.Member]{}, err
	}
	next := was
	next.Spec = made.Spec
	touch(&next.Metadata, was.Metadata, true, made.Revision, made.UpdatedAt)
	event, err := changed(ctx, made.UpdatedAt, key.ID, kindMember, made.Name, recorded(was.Metadata, was.Spec), recorded(next.Metadata, next.Spec))
	if err != nil {
		return Result[ipam.Member]{}, err
	}
	err = tx.Write(ctx, Changes{
		AccessChanges: AccessChanges{MemberUpdate: &MemberUpdate{Was: was.Revision, Now: next}}, Events: []ipam.Event{event},
	})
	return Result[ipam.Member]{Value: next, Existed: true}, err
}

// DeleteMember takes a subject's role away.
func (s *Service) DeleteMember(ctx context.Context, project, subject string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.MembersWrite, project)
	if err != nil {
		return err
	}
	first, err := s.store.MemberGet(ctx, key, subject)
	if err != nil {
		return err
	}
	now := s.now()
	_, err = settled(ctx, s, "member_delete", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
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
		event, err := changed(ctx, now, key.ID, kindMember, subject, recorded(m.Metadata, m.Spec), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, Changes{AccessChanges: AccessChanges{MemberDelete: &m}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := ignoreNotFound(s.store.MemberGet(ctx, key, subject))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// staysGoverned refuses to take away the last admin of the project "platform". The count is read in the transaction that takes
// one away: of two that would leave one another, one runs again and sees it.
func staysGoverned(ctx context.Context, tx Tx, key ProjectKey, takenAway string) error {
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
