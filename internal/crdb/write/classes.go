package write

import (
	"bytes"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *Statements) classInserts(ch storage.ClassChanges) {
	if c := ch.ClassInsert; c != nil {
		hitRow(w, "class_insert", rows.Classes, *c)
	}
}

func (w *Statements) classUpdates(ch storage.ClassChanges) {
	for _, u := range ch.ClassUpdate {
		hitRow(w, "class_update", rows.Classes, u.Now, rows.ID(u.Now.UID), rows.ID(u.Was))
	}
	for _, m := range ch.ScopedMarks {
		w.hit("scoped_pool_mark", 1, rows.ID(m.PoolID), rows.TimeOrNull(m.Was), rows.TimeOrNull(m.Now))
	}
}

func (w *Statements) classDelete(ch storage.ClassChanges) {
	if c := ch.ClassDelete; c != nil {
		w.hit("class_delete", 1, rows.ID(c.UID), rows.ID(c.Revision))
	}
}

// backing inserts the rows that connect a pool to its classes. A class finds its pools by these rows.
func (w *Statements) backing(p ipam.Pool) {
	n := len(p.Classes)
	if n == 0 {
		return
	}
	classes := make([][16]byte, n)
	for i, c := range p.Classes {
		classes[i] = rows.ID(c.ID)
	}
	w.hit("pool_class_insert", n, rows.ID(p.ProjectID), p.Name, rows.ID(p.UID), classes)
}

// classEpochs gives each project with changed classes a new class epoch, which is the version of its classes. All servers then discard the project's
// cached classes and the pools of those classes.
func (w *Statements) classEpochs(ch storage.Changes) {
	for _, id := range slices.SortedFunc(maps.Keys(classesChanged(ch)), func(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) }) { // sorted as in all transactions, so that two of them do not deadlock
		w.hit("class_epoch_move", 1, rows.ID(id), rows.ID(ipam.NewID()))
	}
}

// classesChanged returns the projects with a changed class, or with a change to a pool of a class.
func classesChanged(ch storage.Changes) map[ipam.ID]bool {
	of := map[ipam.ID]bool{}
	if c := ch.ClassInsert; c != nil {
		of[c.ProjectID] = true
	}
	if c := ch.ClassDelete; c != nil {
		of[c.ProjectID] = true
	}
	for _, u := range ch.ClassUpdate {
		of[u.Now.ProjectID] = true
	}
	for _, p := range ch.PoolInsert {
		if len(p.Classes) > 0 {
			of[p.ProjectID] = true
		}
	}
	if u := ch.PoolUpdate; u != nil { // the pool may have had a class until now
		of[u.Now.ProjectID] = true
	}
	if p := ch.PoolDelete; p != nil && len(p.Classes) > 0 {
		of[p.ProjectID] = true
	}
	return of
}
