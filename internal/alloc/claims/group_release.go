package claims

import (
	"github.com/carve-ipam/carve/internal/ipam"

	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
)

// frees reports whether a release gives the block back at once: not if it is retained, or has to cool down.
func (m *member) frees() bool {
	return m.claim.ReclaimPolicy == ipam.ReclaimDelete && m.claim.ReuseAfter == 0
}

// releaseInto deletes the claim. What becomes of its allocation is as it was decided when the claim was bound, or by its reclaimPolicy
// since: it is deleted, it cools down, or it is retained.
func (m *member) releaseInto(ch *storage.Changes, in groupScene) error {
	e, err := trail.ClaimEvent(m.event, &m.claim, nil)
	if err != nil {
		return err
	}
	a := allocationOf(m.claim, in.pool)
	ended := trail.EndedHold(a, m.now)
	ch.ClaimDelete = append(ch.ClaimDelete, m.claim)
	ch.Events = append(ch.Events, e)
	ch.History = append(ch.History, ended)
	in.ledger.Give(m.key.ID, quota.ClaimPlace(in.pool, m.claim.Class), quota.ReleasedUsage(m.claim))
	if m.frees() {
		ch.AllocationDelete = append(ch.AllocationDelete, a)
		return nil
	}
	a.Phase, a.Since, a.Revision, a.UpdatedAt = ipam.PhaseRetained, ended.Until, m.revision, m.now
	if m.claim.ReclaimPolicy == ipam.ReclaimDelete {
		a.Phase, a.CoolUntil = ipam.PhaseCoolingDown, m.now.Add(m.claim.ReuseAfter)
	}
	ch.AllocationUpdate = append(ch.AllocationUpdate, storage.AllocationUpdate{Was: ipam.PhaseBound, Now: a})
	return nil
}
