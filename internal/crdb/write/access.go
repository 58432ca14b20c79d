package write

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// accessDeletes deletes members, API keys and grants. If a project is deleted, it also deletes all other rows that belong only to the project.
func (w *Statements) accessDeletes(ch storage.AccessChanges) {
	if m := ch.MemberDelete; m != nil {
		w.hit("member_delete", 1, rows.ID(m.ProjectID), m.Name, rows.ID(m.Revision))
	}
	if k := ch.KeyDelete; k != nil {
		w.hit("key_delete", 1, rows.ID(k.UID), rows.ID(k.Revision))
	}
	if g := ch.GrantDelete; g != nil {
		w.hit("grant_delete", 1, rows.ID(g.SubjectID), g.Name, rows.ID(g.Revision))
	}
	if of := ch.GrantsDelete; of != nil {
		w.any("grant_delete_all", rows.ID(of.ID))
	}
	if p := ch.AccessDelete; p != nil {
		w.any("member_delete_all", rows.ID(p.UID))
		w.any("grant_delete_to", p.Name)
		w.any("key_delete_all", rows.ID(p.UID))
		w.any("shard_delete_all", rows.ID(p.UID))
		w.any("quota_delete_all", rows.ID(p.UID))
		w.any("webhook_delete_all", rows.ID(p.UID))
		w.any("delivery_delete_all", rows.ID(p.UID))
		w.any("alert_rule_delete_all", rows.ID(p.UID))
		w.any("alert_delete_all", rows.ID(p.UID))
		w.hit("removal_insert", 1, rows.ID(p.UID)) // the audit trail and the history are too large for one transaction, so Purge deletes them later
	}
}

func (w *Statements) accessUpdates(ch storage.AccessChanges) {
	if u := ch.MemberUpdate; u != nil {
		hitRow(w, "member_update", rows.Members, u.Now, rows.ID(u.Now.ProjectID), u.Now.Name, rows.ID(u.Was))
	}
}

func (w *Statements) accessInserts(ch storage.AccessChanges) {
	if m := ch.MemberInsert; m != nil {
		hitRow(w, "member_insert", rows.Members, *m, rows.ID(m.ProjectID))
	}
	if k := ch.KeyInsert; k != nil {
		hitRow(w, "key_insert", rows.Keys, *k)
	}
	if g := ch.GrantInsert; g != nil {
		hitRow(w, "grant_insert", rows.Grants, *g)
	}
}
