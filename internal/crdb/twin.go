package crdb

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/twin"
)

// stalePlan is what the first attempt of a transaction read, for the twin whose other attempts go on with it. It is nil elsewhere.
type stalePlan struct{ facts *storage.GroupFacts }

func newStalePlan() *stalePlan {
	if !twin.StalePlan {
		return nil
	}
	return &stalePlan{}
}

// firstRead answers what the first attempt read.
func (p *stalePlan) firstRead() (storage.GroupFacts, bool) {
	if !twin.StalePlan || p == nil || p.facts == nil {
		return storage.GroupFacts{}, false
	}
	return *p.facts, true
}

// keep remembers what the first attempt has read.
func (p *stalePlan) keep(facts storage.GroupFacts, err error) {
	if twin.StalePlan && p != nil && err == nil {
		p.facts = &facts
	}
}
