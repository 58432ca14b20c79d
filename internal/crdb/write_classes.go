package crdb

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *writer) classInserts(ch storage.ClassChanges) {
	c := ch.ClassInsert
	if c == nil {
		return
	}
	w.hit("class_insert", 1, uuid(c.UID), uuid(c.ProjectID), c.Name, familyNumber(c.Spec.Family), string(c.Spec.Visibility), c.Spec.IsDefault, w.json(c.Spec),
		w.json(c.Labels), w.json(c.Annotations), c.Generation, uuid(c.Revision), c.CreatedAt, c.UpdatedAt, c.CreatedBy)
}

func (w *writer) classUpdates(ch storage.ClassChanges) {
	for _, u := range ch.ClassUpdate {
		c := u.Now
		w.hit("class_update", 1, uuid(c.UID), uuid(u.Was), string(c.Spec.Visibility), c.Spec.IsDefault, w.json(c.Spec), w.json(c.Labels), w.json(c.Annotations),
			c.Generation, uuid(c.Revision), c.UpdatedAt)
	}
	for _, m := range ch.ScopedMarks {
		w.hit("scoped_pool_mark", 1, uuid(m.PoolID), timePtr(m.Was), timePtr(m.Now))
	}
}

func (w *writer) classDelete(ch storage.ClassChanges) {
	if c := ch.ClassDelete; c != nil {
		w.hit("class_delete", 1, uuid(c.UID), uuid(c.Revision))
	}
}

// classes is what a pool backs, as its row has it.
func (w *writer) classes(p ipam.Pool) string {
	if len(p.Classes) == 0 {
		return "[]"
	}
	return w.json(p.Classes)
}

// scopeKey is the key of a scoped pool's scope; of another pool NULL.
func scopeKey(p ipam.Pool) *string {
	if p.Scope == nil {
		return nil
	}
	return &p.Scope.Key
}

// classColumns are the columns of several rows that say which class served each.
type classColumns struct {
	ids             []*[16]byte
	projects, names []string
}

func classArrays(n int) classColumns {
	return classColumns{ids: make([]*[16]byte, n), projects: make([]string, n), names: make([]string, n)}
}

func (c classColumns) set(i int, class ipam.ClassRef) {
	c.ids[i], c.projects[i], c.names[i] = idPtr(class.ID), class.Ref.Project, class.Ref.Name
}

// backing makes the rows by which the classes of a pool find it.
func (w *writer) backing(p ipam.Pool) {
	n := len(p.Classes)
	if n == 0 {
		return
	}
	classes := make([][16]byte, n)
	for i, c := range p.Classes {
		classes[i] = uuid(c.ID)
	}
	w.hit("pool_class_insert", n, uuid(p.ProjectID), p.Name, uuid(p.UID), classes)
}

// classEpochs makes servers forget what they remember of the classes that are changed, and of the pools behind classes.
func (w *writer) classEpochs(ch storage.Changes) {
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
	if u := ch.PoolUpdate; u != nil { // it may have listed one until now
		of[u.Now.ProjectID] = true
	}
	if p := ch.PoolDelete; p != nil && len(p.Classes) > 0 {
		of[p.ProjectID] = true
	}
	for id := range of {
		w.hit("class_epoch_move", 1, uuid(id), uuid(ipam.NewID()))
	}
}
