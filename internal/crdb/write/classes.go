package write

import (
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
		hitRow(w, "class_update", rows.Classes, u.Now, u.Now.UID, u.Was)
	}
	for _, m := range ch.ScopedMarks {
		w.hit("scoped_pool_mark", 1, m.PoolID, rows.TimeOrNull(m.Was), rows.TimeOrNull(m.Now))
	}
}

func (w *Statements) classDelete(ch storage.ClassChanges) {
	if c := ch.ClassDelete; c != nil {
		w.hit("class_delete", 1, c.UID, c.Revision)
	}
}

// insertPoolClasses inserts the rows that connect a pool to its classes. A class finds its pools by these rows.
func (w *Statements) insertPoolClasses(p ipam.Pool) {
	n := len(p.Classes)
	if n == 0 {
		return
	}
	classes := make([]ipam.ID, n)
	for i, c := range p.Classes {
		classes[i] = c.ID
	}
	w.hit("pool_class_insert", n, p.ProjectID, p.Name, p.UID, classes)
}

// changeClassEpochs gives each project with changed classes a new class epoch, which is a version for its classes. All servers then discard the
// project's cached classes and the cached pools of these classes.
func (w *Statements) changeClassEpochs(ch storage.Changes) {
	for _, id := range slices.SortedFunc(maps.Keys(classesChanged(ch)), rows.CompareIDs) { // sorted in all transactions, so that two do not deadlock
		w.hit("class_epoch_move", 1, id, ipam.NewID())
	}
}

// classesChanged returns the projects with a changed class, or with a change to a pool that lists a class.
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
