package write

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// accessDeletes deletes members, API keys and grants. If a project is deleted, it also deletes all other rows that belong only to the project.
func (w *Statements) accessDeletes(ch storage.AccessChanges) {
	if m := ch.MemberDelete; m != nil {
		w.hit("member_delete", 1, m.ProjectID, m.Name, m.Revision)
	}
	if k := ch.KeyDelete; k != nil {
		w.hit("key_delete", 1, k.UID, k.Revision)
	}
	if g := ch.GrantDelete; g != nil {
		w.hit("grant_delete", 1, g.SubjectID, g.Name, g.Revision)
	}
	if of := ch.GrantsDelete; of != nil {
		w.unchecked("grant_delete_all", of.ID)
	}
	if p := ch.AccessDelete; p != nil {
		w.unchecked("member_delete_all", p.UID)
		w.unchecked("grant_delete_to", p.Name)
		for _, statement := range []string{
			"key_delete_all", "shard_delete_all", "quota_delete_all", "webhook_delete_all", "delivery_delete_all", "alert_rule_delete_all", "alert_delete_all",
		} {
			w.unchecked(statement, p.UID)
		}
		w.hit("removal_insert", 1, p.UID) // the audit trail and the history are too large for one transaction, so Purge deletes them later
	}
}

func (w *Statements) accessUpdates(ch storage.AccessChanges) {
	if u := ch.MemberUpdate; u != nil {
		hitRow(w, "member_update", rows.Members, u.Now, u.Now.ProjectID, u.Now.Name, u.Was)
	}
}

func (w *Statements) accessInserts(ch storage.AccessChanges) {
	if m := ch.MemberInsert; m != nil {
		hitRow(w, "member_insert", rows.Members, *m, m.ProjectID)
	}
	if k := ch.KeyInsert; k != nil {
		hitRow(w, "key_insert", rows.Keys, *k)
	}
	if g := ch.GrantInsert; g != nil {
		hitRow(w, "grant_insert", rows.Grants, *g)
	}
}
