package crdb

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// tx is one attempt at a transaction.
type tx struct {
	lookup.Reader
	store  *Store
	conn   *conn
	number int
	dry    bool
	fences lookup.Fences // as read, or as the transaction has written them
	fill   cacheFill
}

var _ storage.Tx = (*tx)(nil)

func newTx(s *Store, c *conn, number int, dry bool) *tx {
	t := &tx{store: s, conn: c, number: number, dry: dry, fences: lookup.Fences{}}
	t.fill = cacheFill{memory: s.memory, region: s.region, pools: map[lookup.FenceKey]*catalogcache.Pool{}, projects: map[ipam.ID]catalogcache.Project{}}
	// A statement inside a transaction is never retried. Its error ends the attempt.
	t.Reader = s.readerOn(c)
	return t
}

// Attempt implements storage.Tx.
func (t *tx) Attempt() int { return t.number }

// Now implements storage.Tx.
func (t *tx) Now() time.Time {
	if t.conn.at.IsZero() {
		return t.store.Now()
	}
	return t.conn.at
}

// FreeRead implements storage.Tx.
func (t *tx) FreeRead(ctx context.Context, c storage.Container, reads freespace.Reads) ([]netip.Prefix, error) {
	t.conn.lock(c.Lock())
	stock, err := t.stock(ctx, c)
	if err != nil {
		return nil, err
	}
	return lookup.Free(ctx, t.conn, c, reads, stock, t.fences)
}

// stock returns a container's stock. It is for an engine on which one statement for several blocks may read all free rows. For any other engine,
// stock returns an empty stock, and the caller reads several blocks with one statement.
func (t *tx) stock(ctx context.Context, c storage.Container) (ipam.Stock, error) {
	if !t.store.engine.byKeys() {
		return ipam.Stock{}, nil
	}
	at := lookup.FenceKeyOf(c)
	if _, known := t.fences[at]; !known {
		if err := t.fences.Read(ctx, t.conn, []lookup.FenceKey{at}); err != nil {
			return ipam.Stock{}, err
		}
	}
	return t.fences[at].Stock, nil
}

// QuotaShards implements storage.QuotaReader. The transaction's decision depends on the sum of all the quota's shards, so QuotaShards locks the
// quota.
func (t *tx) QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	if t.conn.locks == nil { // under SERIALIZABLE alone, many such transactions would retry again and again
		return t.QuotaShardsAlone(ctx, quotas)
	}
	t.conn.lock(quotas...)
	return t.Reader.QuotaShards(ctx, quotas)
}

// ConsumersNamed implements storage.ConsumerReader. If the database has several regions, it locks the names. So no other transaction creates the same
// consumer in another region at the same time.
func (t *tx) ConsumersNamed(ctx context.Context, projectID ipam.ID, refs []ipam.ConsumerRef) ([]ipam.Consumer, error) {
	if t.store.regions.Several() {
		for _, ref := range refs {
			t.conn.lock(ipam.DerivedID(projectID, "consumer "+ref.String()))
		}
	}
	return t.Reader.ConsumersNamed(ctx, projectID, refs)
}

// Taken implements storage.Tx. A use case calls it before it refuses a request, and may change nothing else in the transaction. So Taken also creates
// the projects' missing version rows. Without such a row, a project cannot be cached.
func (t *tx) Taken(ctx context.Context, claims, keys []storage.NameRef) (taken, used map[storage.NameRef]bool, err error) {
	if taken, used, err = lookup.Taken(ctx, t.conn, t.store.region, claims, keys, nil, nil); err != nil || t.dry {
		return taken, used, err
	}
	unfenced := slices.DeleteFunc(t.missingFences(), func(at lookup.FenceKey) bool { // in a deleted project all names are taken, and it needs no version row
		return !slices.ContainsFunc(claims, func(ref storage.NameRef) bool { return ref.ProjectID == at.ID && !taken[ref] })
	})
	if len(unfenced) > 0 {
		err = write.Begins(unfenced).Send(ctx, t.conn)
	}
	return taken, used, err
}
