package crdb

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// accessDeletes gives up members, keys and grants, and with a project all that only it has.
func (w *writer) accessDeletes(ch storage.AccessChanges) {
	if m := ch.MemberDelete; m != nil {
		w.hit("member_delete", 1, uuid(m.ProjectID), m.Name, uuid(m.Revision))
	}
	if k := ch.KeyDelete; k != nil {
		w.hit("key_delete", 1, uuid(k.UID), uuid(k.Revision))
	}
	if g := ch.GrantDelete; g != nil {
		w.hit("grant_delete", 1, uuid(g.SubjectID), g.Name, uuid(g.Revision))
	}
	if of := ch.GrantsDelete; of != nil {
		w.any("grant_delete_all", uuid(of.ID))
	}
	if p := ch.AccessDelete; p != nil {
		w.any("member_delete_all", uuid(p.UID))
		w.any("grant_delete_to", p.Name)
		w.any("key_delete_all", uuid(p.UID))
		w.any("shard_delete_all", uuid(p.UID))
		w.any("quota_delete_all", uuid(p.UID))
		w.hit("removal_insert", 1, uuid(p.UID)) // trail and history are too much for one transaction: Purge deletes them
	}
}

func (w *writer) accessUpdates(ch storage.AccessChanges) {
	if u := ch.MemberUpdate; u != nil {
		m := u.Now
		w.hit("member_update", 1, uuid(m.ProjectID), m.Name, uuid(u.Was), m.Spec.Role, m.Generation, uuid(m.Revision), m.UpdatedAt)
	}
}

func (w *writer) accessInserts(ch storage.AccessChanges) {
	if m := ch.MemberInsert; m != nil {
		w.hit("member_insert", 1, uuid(m.UID), uuid(m.ProjectID), m.Name, m.Spec.Role, m.Generation, uuid(m.Revision), m.CreatedAt, m.UpdatedAt, m.CreatedBy)
	}
	if k := ch.KeyInsert; k != nil {
		w.hit("key_insert", 1, uuid(k.UID), uuid(k.ProjectID), k.Name, k.Hash, k.Spec.Role, k.Spec.Description, timePtr(k.Spec.ExpiresAt), timePtr(k.LastUsedAt),
			w.json(k.Labels), w.json(k.Annotations), k.Generation, uuid(k.Revision), k.CreatedAt, k.UpdatedAt, k.CreatedBy)
	}
	if g := ch.GrantInsert; g != nil {
		w.hit("grant_insert", 1, uuid(g.UID), string(g.Kind), uuid(g.SubjectID), g.Name, g.Generation, uuid(g.Revision), g.CreatedAt, g.UpdatedAt, g.CreatedBy)
	}
}

// timePtr is a time as it is written; zero is NULL.
func timePtr(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// sometime is a time that was read; NULL is zero.
func sometime(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
