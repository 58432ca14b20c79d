package alloc

import "github.com/carve-ipam/carve/internal/ipam"

// frees reports whether a release gives the block back at once: not if it is retained, or has to cool down.
func (m *member) frees() bool {
	return m.claim.ReclaimPolicy == ipam.ReclaimDelete && m.claim.ReuseAfter == 0
}

// releaseInto deletes the claim. What becomes of its allocation is as it was decided when the claim was bound, or by its reclaimPolicy
// since: it is deleted, it cools down, or it is retained.
func (m *member) releaseInto(ch *Changes, in groupScene) error {
	e, err := claimEvent(m.event, &m.claim, nil)
	if err != nil {
		return err
	}
	a := allocationOf(m.claim, in.pool)
	ended := endedHold(a, m.now)
	ch.ClaimDelete = append(ch.ClaimDelete, m.claim)
	ch.Events = append(ch.Events, e)
	ch.History = append(ch.History, ended)
	in.ledger.give(m.key.ID, claimPlace(in.pool, m.claim.Class), releasedUsage(m.claim))
	if m.frees() {
		ch.AllocationDelete = append(ch.AllocationDelete, a)
		return nil
	}
	a.Phase, a.Since, a.Revision, a.UpdatedAt = ipam.PhaseRetained, ended.Until, m.revision, m.now
	if m.claim.ReclaimPolicy == ipam.ReclaimDelete {
		a.Phase, a.CoolUntil = ipam.PhaseCoolingDown, m.now.Add(m.claim.ReuseAfter)
	}
	ch.AllocationUpdate = append(ch.AllocationUpdate, AllocationUpdate{Was: ipam.PhaseBound, Now: a})
	return nil
}
