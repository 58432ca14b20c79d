package claims

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// changes returns the changes for the orders that were served: first the releases, then the claims, then the pools.
//
// All changes have the transaction's time, and the transaction holds the pools' locks. So if two claims hold a block one after the other, the second
// hold never begins before the first one ends. This holds for any waiting time and any server.
func (a *attempt) changes() (ch storage.Changes, err error) {
	n, at := len(a.batch.orders), a.tx.Now()
	ch.Events = make([]ipam.Event, 0, n)
	if len(a.batch.choices) > 0 && !a.batch.indexed {
		ch.ClaimInsert = make([]ipam.Claim, 0, n)
	}
	for i, o := range a.batch.orders {
		if !o.binds() && a.from[i] != nil {
			if err := releaseInto(&ch, o, at); err != nil {
				return ch, err
			}
		}
	}
	for i, o := range a.batch.orders {
		if o.binds() && o.choice.Ask.PoolAlone {
			e, err := scopeEvent(o)
			if err != nil {
				return ch, err
			}
			ch.Events = append(ch.Events, e)
		}
		if !o.binds() || a.from[i] == nil {
			continue
		}
		c := &a.bound[i]
		c.CreatedAt, c.UpdatedAt = at, at
		e, err := a.from[i].event(o, c)
		if err != nil {
			return ch, err
		}
		ch.Events = append(ch.Events, e)
		if len(c.Spec.Consumers) > 0 {
			a.users.Attach(c, c.Spec.Consumers, attach.Details{Project: o.key, Region: a.region, Event: o.event, At: at})
			c.Spec.Consumers = nil // already attached by users
		}
		if !a.batch.indexed {
			ch.ClaimInsert = append(ch.ClaimInsert, *c)
			addStoredResponse(&ch, at, []*order{o}, a.bound[i:i+1])
		}
	}
	// A list of claims binds all its orders.
	if a.batch.indexed {
		ch.ClaimInsert = a.bound
		addStoredResponse(&ch, at, a.batch.orders, a.bound)
	}
	for _, src := range a.drawn {
		if err := src.addTo(&ch); err != nil {
			return ch, err
		}
	}
	a.ledger.AddTo(&ch)
	err = a.users.AddTo(&ch)
	return ch, err
}

// addStoredResponse adds the stored response for a request's repeats, if the request stores a response.
func addStoredResponse(ch *storage.Changes, at usecase.Timestamp, orders []*order, made []ipam.Claim) {
	if o := orders[0]; o.request.StoresResponse() {
		ch.StoredResponses = append(ch.StoredResponses, usecase.StoredResponse(o.key.ID, o.request, at, encodeResponse(orders, made)))
	}
}

// release gives order i's block back to its pool.
func (a *attempt) release(i int, src *openPool) {
	o := a.batch.orders[i]
	a.ledger.Give(o.key.ID, quota.ClaimSubject(src.pool, o.claim.Class), quota.ReleasedUsage(o.claim))
	a.bound[i], a.from[i] = o.claim, src
}

// releaseInto adds a claim's release to the changes. The claim's reclaim policy and cool-down determine whether the allocation ends with the claim,
// cools down, or is retained.
func releaseInto(ch *storage.Changes, o *order, at usecase.Timestamp) error {
	e, err := o.releaseEvent()
	if err != nil {
		return err
	}
	held := o.claim.Allocation()
	ended := trail.EndedHold(held, at)
	ended.ID = o.revision // identifies this release if the COMMIT has an unknown result
	if ended.Because = o.because; o.because.IsSet() {
		ch.AttachmentDelete = append(ch.AttachmentDelete, ipam.Attachment{
			Region: o.claim.Region, ProjectID: o.claim.ProjectID, ClaimID: o.claim.UID, Consumer: o.because.Consumer,
		})
	}
	ch.Events = append(ch.Events, e)
	ch.History = append(ch.History, ended)
	if o.frees() {
		ch.ClaimDelete = append(ch.ClaimDelete, o.claim)
		return nil
	}
	held.Phase, held.Since, held.Revision, held.UpdatedAt = ipam.PhaseRetained, ended.Until, o.revision, at
	if o.claim.ReclaimPolicy == ipam.ReclaimDelete {
		held.Phase, held.CoolUntil = ipam.PhaseCoolingDown, at.Add(o.claim.ReuseAfter)
	}
	ch.ClaimRelease = append(ch.ClaimRelease, storage.Release{Claim: o.claim, Now: held})
	return nil
}

func (o *order) releaseEvent() (ipam.Event, error) {
	if o.because.IsSet() {
		return trail.DetachEvent(o.event, &o.claim, nil, o.because)
	}
	return trail.ClaimEvent(o.event, &o.claim, nil)
}

// addTo adds the changes to the pool.
func (src *openPool) addTo(ch *storage.Changes) error {
	free := src.carver.Change()
	if src.made == nil {
		ch.Free = append(ch.Free, free)
		ch.ScopedMarks = append(ch.ScopedMarks, occupied(src.pool, ch.ClaimInsert)...)
		return nil
	}
	// Only this transaction sees the pool's block as free rows. If no claim takes a block from the pool, the whole block is free.
	if free.Delete = nil; len(src.taken) == 0 {
		free.Insert = []netip.Prefix{src.pool.Block}
	}
	ch.Free = append(ch.Free, free)
	ch.PoolInsert = append(ch.PoolInsert, src.pool)
	ch.AllocationInsert = append(ch.AllocationInsert, *src.made)
	event, err := scopedPoolEvent(src.pool)
	ch.Events = append(ch.Events, event)
	return err
}
