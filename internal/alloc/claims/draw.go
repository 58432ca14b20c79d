package claims

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolDecision is the decision whether and how a pool serves a choice. It is made and encoded once for all the choice's orders.
type poolDecision struct {
	refused error // the reason why the pool cannot or may not serve the choice
	want    resolve.BlockSpec
	usage   ipam.Usage
	at      ipam.QuotaSubject

	// The trail's record for a claim consists of head, the block, and tail.
	head []byte // the spec; not used for a claim with an owner, labels or annotations
	tail []byte // pool and class
}

// draw takes order i's block from a pool, within the quotas. If the order gets no block, refused is the reason. If err is not nil, the attempt ends.
func (a *attempt) draw(ctx context.Context, i int, src *openPool) (refused, err error) {
	o := a.batch.orders[i]
	if src.away || !o.cacheIsCurrent(src, a.region) {
		return &storage.Conflict{}, nil
	}
	d := a.decide(o.choice, src)
	if d.refused != nil {
		return d.refused, nil
	}
	err = a.ledger.Take(ctx, o.key, d.at, d.usage)
	if ipam.IsCode(err, ipam.CodeQuotaExceeded) {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	wish, known := src.wishes[i]
	if !known {
		wish = d.want.Request(src.pool, o.random, a.tx.Attempt())
	}
	block, ok := src.carver.Take(wish)
	if !ok {
		if src.few && wish.Strategy == freespace.Random && !wish.Exact.IsValid() {
			return nil, errFewRead
		}
		a.ledger.Give(o.key.ID, d.at, d.usage)
		return &regions.NoRoom{Request: wish, Pool: src.pool, Stock: src.stock}, nil
	}
	if src.taken == nil {
		src.taken = make([]grantedBlock, 0, len(src.wishes))
	}
	src.taken = append(src.taken, grantedBlock{wish, block})
	a.bound[i], a.from[i] = o.choice.Ask.Bound(o.claim, block, src.pool), src
	return nil, nil
}

// decide decides whether a pool may serve a choice.
func (a *attempt) decide(c *choice, src *openPool) *poolDecision {
	if d := src.draws[c]; d != nil {
		return d
	}
	d := &poolDecision{}
	o := a.batch.orders[c.items[0]]
	if !c.Ask.MayDraw(o.key, src.pool, src.granted[o.key.Name]) { // the choice may not use the pool any more
		d.refused = storage.PoolNotFound(src.pool.Ref())
	} else if d.want, d.refused = c.Ask.BlockSpec(src.pool); d.refused == nil { // an error means that the policy has changed since the look-up
		d.usage, d.at = quota.ClaimUsage(src.pool, d.want.Bits), quota.ClaimSubject(src.pool, c.Ask.ClassRef())
	}
	if src.draws == nil {
		src.draws = map[*choice]*poolDecision{}
	}
	src.draws[c] = d
	return d
}

// event returns the trail's event for a claim that was bound to a block in the pool. For claims with the same spec, it encodes the common part only
// once. A batch may have 1,000 such claims.
func (src *openPool) event(o *order, c *ipam.Claim) (ipam.Event, error) {
	if len(c.Spec.Consumers) > 0 {
		return trail.AttachEvent(o.event, nil, c, c.Spec.Consumers)
	}
	if len(o.choice.items) == 1 {
		return trail.ClaimEvent(o.event, nil, c)
	}
	d, e := src.draws[o.choice], o.event
	if d.head == nil {
		if err := d.write(o.choice.Ask, src.pool.Ref()); err != nil {
			return e, err
		}
	}
	head := d.head
	if c.Spec.OwnerRef != nil || len(c.Labels)+len(c.Annotations) > 0 {
		var err error
		if head, err = recordJSON(trail.Recorded(c.Metadata, c.Spec)); err != nil {
			return e, err
		}
	}
	e.Name, e.Outcome = c.Name, ipam.OutcomeOK
	e.After = append(make([]byte, 0, len(head)+len(d.tail)+64), head[:len(head)-1]...)
	e.After = append(c.Block.AppendTo(append(e.After, `,"allocatedCIDR":"`...)), `",`...)
	e.After = append(e.After, d.tail[1:]...)
	if ref := trail.KeptAs(c); ref != nil {
		kept, err := recordJSON(&trail.Record{AllocationRef: ref})
		if err != nil {
			return e, err
		}
		e.After = slices.Concat(e.After[:len(e.After)-1], []byte(`,`), kept[1:])
	}
	return e, nil
}

// write encodes the common parts of the records for the choice's claims.
func (d *poolDecision) write(ask resolve.Request, pool ipam.Ref) (err error) {
	common := ask.Spec
	common.OwnerRef = nil
	if d.head, err = recordJSON(&trail.Record{Spec: common}); err != nil {
		return err
	}
	tail := &trail.Record{PoolRef: &pool}
	if class := ask.ClassRef(); !class.IsZero() {
		tail.ClassRef = &class.Ref
	}
	d.tail, err = recordJSON(tail)
	return err
}

func recordJSON(r *trail.Record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		err = trail.Unrecorded(err)
	}
	return text, err
}
