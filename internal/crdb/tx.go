package crdb

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/recall"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// tx is one attempt of a transaction.
type tx struct {
	lookup.Reader
	region string
	places *places
	conn   *conn
	number int
	dry    bool
	clock  *storeClock
	fences lookup.Fences // as they were read, or written since

	lessons lessons

	durable func() (ask, write string) // of the engine
	byKeys  bool                       // of the engine
}

var _ storage.Tx = (*tx)(nil)

func newTx(s *Store, c *conn, number int, dry bool) *tx {
	t := &tx{region: s.region, places: s.places, conn: c, number: number, dry: dry, clock: s.clock, fences: lookup.Fences{}, durable: s.engine.durable, byKeys: s.engine.byKeys()}
	t.lessons = lessons{memory: s.memory, region: s.region, pools: map[lookup.Place]*recall.Pool{}, projects: map[ipam.ID]recall.Project{}}
	// Inside a transaction nothing is repeated by itself: the error ends the attempt.
	t.Reader = s.readerOn(c)
	return t
}

// Attempt implements storage.Tx.
func (t *tx) Attempt() int { return t.number }

// Now implements storage.Tx.
func (t *tx) Now() time.Time {
	if t.conn.at.IsZero() {
		return t.clock.Now()
	}
	return t.conn.at
}

// FreeRead implements storage.Tx.
func (t *tx) FreeRead(ctx context.Context, c storage.Container, reads space.Reads) ([]netip.Prefix, error) {
	t.conn.lock(c.Lock())
	stock, err := t.stock(ctx, c)
	if err != nil {
		return nil, err
	}
	return lookup.Free(ctx, t.conn, c, reads, stock, t.fences)
}

// stock is what is free in a container, where one statement for several blocks may read all of it; else nothing, which has it read so.
func (t *tx) stock(ctx context.Context, c storage.Container) (ipam.Stock, error) {
	if !t.byKeys {
		return ipam.Stock{}, nil
	}
	at := lookup.PlaceOf(c)
	if _, known := t.fences[at]; !known {
		if err := t.fences.Read(ctx, t.conn, []lookup.Place{at}); err != nil {
			return ipam.Stock{}, err
		}
	}
	return t.fences[at].Stock, nil
}

// QuotaShards implements storage.QuotaReader. Whoever decides by the sum of a quota's shards is alone with it.
func (t *tx) QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	if t.conn.locks == nil { // SERIALIZABLE alone would have many of them begin anew, again and again
		return t.QuotaShardsAlone(ctx, quotas)
	}
	t.conn.lock(quotas...)
	return t.Reader.QuotaShards(ctx, quotas)
}

// ConsumersNamed implements storage.ConsumerReader. Where there are several regions nobody makes a consumer of one name in another meanwhile.
func (t *tx) ConsumersNamed(ctx context.Context, projectID ipam.ID, refs []ipam.ConsumerRef) ([]ipam.Consumer, error) {
	if t.places.Several() {
		for _, ref := range refs {
			t.conn.lock(ipam.DerivedID(projectID, "consumer "+ref.String()))
		}
	}
	return t.Reader.ConsumersNamed(ctx, projectID, refs)
}

// Taken implements storage.Tx. It is asked when somebody is to be refused, and may be all that the transaction does: so projects get their fences here, too.
func (t *tx) Taken(ctx context.Context, claims, keys []storage.NameRef) (taken, used map[storage.NameRef]bool, err error) {
	if taken, used, err = lookup.Taken(ctx, t.conn, t.region, claims, keys); err != nil || t.dry {
		return taken, used, err
	}
	unfenced := slices.DeleteFunc(t.unfenced(), func(at lookup.Place) bool { // of a project that is gone all names are taken
		return !slices.ContainsFunc(claims, func(ref storage.NameRef) bool { return ref.ProjectID == at.ID && !taken[ref] })
	})
	if len(unfenced) > 0 {
		err = write.Begins(unfenced).Send(ctx, t.conn)
	}
	return taken, used, err
}
