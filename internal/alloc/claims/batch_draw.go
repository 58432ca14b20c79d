package claims

import (
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// drawing is what a choice comes to in a pool: decided, and written down, once for all of its items.
type drawing struct {
	may   bool // the pool can serve it, and it may draw from the pool
	want  resolve.Want
	usage ipam.Usage
	at    ipam.HoldPlace

	// The record of a claim is the two with its block between them.
	head []byte // the spec; not for items that say anything of their own
	tail []byte // pool and class
}

func (t *batchPool) drawnBy(c *choice, key storage.ProjectKey) (*drawing, error) {
	if d := t.drawn[c]; d != nil {
		return d, nil
	}
	d := &drawing{}
	w, err := c.Ask.Wanted(t.pool)
	if err == nil && c.Ask.MayDraw(key, t.pool, t.granted) {
		pool, class := t.pool.Ref(), c.Ask.ClassRef()
		d.may, d.want, d.usage, d.at = true, w, quota.ClaimUsage(t.pool, w.Bits), quota.ClaimPlace(t.pool, class)
		common := c.Ask.Spec
		common.OwnerRef = nil
		if d.head, err = recordJSON(&trail.Record{Spec: common}); err != nil {
			return nil, err
		}
		tail := &trail.Record{PoolRef: &pool}
		if !class.IsZero() {
			tail.ClassRef = &class.Ref
		}
		if d.tail, err = recordJSON(tail); err != nil {
			return nil, err
		}
	}
	if t.drawn == nil {
		t.drawn = map[*choice]*drawing{}
	}
	t.drawn[c] = d
	return d, nil
}

// event is trail.ClaimEvent of an item that was served from the pool. Of 1,000 claims that ask for the same, what they have in common is not
// written down 1,000 times.
func (t *batchPool) event(it *batchItem, c *ipam.Claim) (ipam.Event, error) {
	d, e := t.drawn[it.choice], it.event
	head := d.head
	if c.Spec.OwnerRef != nil || len(c.Labels)+len(c.Annotations) > 0 {
		var err error
		if head, err = recordJSON(trail.Recorded(c.Metadata, c.Spec)); err != nil {
			return e, err
		}
	}
	e.Name, e.Outcome = c.Name, ipam.OutcomeOK
	e.After = slices.Concat(head[:len(head)-1], []byte(`,"allocatedCIDR":"`), c.Block.AppendTo(nil), []byte(`",`), d.tail[1:])
	if ref := trail.KeptAs(c); ref != nil {
		kept, err := recordJSON(&trail.Record{AllocationRef: ref})
		if err != nil {
			return e, err
		}
		e.After = slices.Concat(e.After[:len(e.After)-1], []byte(`,`), kept[1:])
	}
	return e, nil
}

func recordJSON(r *trail.Record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		err = trail.Unrecorded(err)
	}
	return text, err
}
