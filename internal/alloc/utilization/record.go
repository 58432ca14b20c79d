package utilization

import (
	"context"
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DefaultEvery is the default interval between records.
const DefaultEvery = time.Hour

const (
	keptInFull = 14  // days for which the database keeps every record
	keptAtAll  = 400 // days for which the database keeps a day's last and highest records
	recordRows = 200 // pools in one step
	foldedRows = 500 // days in one step
)

// Store stores the records. Its methods read and write records in the store's region only, unless their comments state otherwise.
type Store interface {
	// UtilizationDue returns up to limit pools with the store's region as their home region, each with today's last record. The pools are in id
	// order, and begin after the given id.
	UtilizationDue(ctx context.Context, today time.Time, after ipam.ID, limit int) ([]Due, error)
	// Stocks counts the blocks in some containers, as storage.Reader.Stocks does.
	Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error)
	// RecordUtilization adds records to the pools' records for today, and returns the number added. It skips a pool that no longer exists. It also
	// skips a pool that already has a record from the time since or later.
	RecordUtilization(ctx context.Context, today, since time.Time, records []Record) (int64, error)
	// FoldUtilization moves up to limit rows for single days into the rows for their months. It moves only days before the given time. keep selects
	// the records that the month's row keeps for a day. FoldUtilization returns the number of moved rows.
	FoldUtilization(ctx context.Context, before time.Time, limit int, keep func([]ipam.UsedAt) []ipam.UsedAt) (int, error)
	// ExpireUtilization deletes up to limit rows for months that began before a time, and returns the number deleted.
	ExpireUtilization(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Due is a pool that may be due for a record.
type Due struct {
	Pool   ipam.Pool // only the fields that Stocks needs
	Latest time.Time // the time of today's last record; zero: none
	Used   *big.Int  // the usage in that record
}

// Record is a pool's usage at a time.
type Record struct {
	PoolID ipam.ID
	ipam.UsedAt
}

// Recorder records the usage of the pools that have one region as their home. Several servers may run a Recorder at the same time, and it may stop at
// any time. The first server writes a pool's record for an interval, and the others skip it. Make a Recorder with NewRecorder. Only one goroutine may
// use it.
type Recorder struct {
	store    Store
	interval time.Duration
	clock    func() time.Time
	done     time.Time // the start of the last interval for which it has recorded all pools
}

// NewRecorder makes a Recorder that writes one record per interval. clock returns the database's time, or a test's time.
func NewRecorder(store Store, interval time.Duration, clock func() time.Time) *Recorder {
	return &Recorder{store: store, interval: interval, clock: clock}
}

// Record records all pools once per interval, and returns the number written. A pool whose usage does not change gets one record a day.
func (r *Recorder) Record(ctx context.Context) (recorded int64, err error) {
	began := r.clock().UTC().Truncate(r.interval)
	if began.Equal(r.done) {
		return 0, nil
	}
	for after := (ipam.ID{}); ; {
		now := r.clock().UTC()
		today := now.Truncate(day)
		page, err := r.store.UtilizationDue(ctx, today, after, recordRows)
		if err != nil {
			return recorded, err
		}
		since := began
		if today.After(since) {
			since = today
		}
		n, err := r.record(ctx, page, today, since)
		if recorded += n; err != nil {
			return recorded, err
		}
		if len(page) < recordRows {
			r.done = began
			return recorded, nil
		}
		after = page[len(page)-1].Pool.UID
	}
}

// record writes a record for each pool on a page that has no record from the time since or later. It skips a pool with the same usage as in today's
// last record. It reads a pool's usage in all regions at the same moment.
func (r *Recorder) record(ctx context.Context, page []Due, today, since time.Time) (int64, error) {
	var containers []storage.Container
	for _, d := range page {
		containers = append(containers, storage.PoolContainers(d.Pool)...)
	}
	if len(containers) == 0 {
		return 0, nil
	}
	at := r.clock().UTC()
	stocks, err := r.store.Stocks(ctx, containers)
	if err != nil {
		return 0, err
	}
	var records []Record
	for _, d := range page {
		d.Pool.Stock = stocks[d.Pool.UID]
		used := ipam.PoolShare(d.Pool).Used
		if d.Latest.Before(since) && (d.Used == nil || d.Used.Cmp(used) != 0) {
			records = append(records, Record{d.Pool.UID, ipam.UsedAt{At: at, Used: used}})
		}
	}
	if len(records) == 0 || at.Sub(today) >= day || at.Before(since) { // the day has changed, or the clock was set: the next run records these pools
		return 0, nil
	}
	return r.store.RecordUtilization(ctx, today, since, records)
}

// Thin moves old records into the rows for their months, and deletes very old months. It works in small batches until nothing remains to do, and
// returns the number of rows moved or deleted.
func (r *Recorder) Thin(ctx context.Context) (done int64, err error) {
	today := r.clock().UTC().Truncate(day)
	for {
		n, err := r.store.FoldUtilization(ctx, today.AddDate(0, 0, -keptInFull), foldedRows, lastAndHighest)
		if done += int64(n); err != nil {
			return done, err
		}
		if n < foldedRows {
			break
		}
	}
	for {
		n, err := r.store.ExpireUtilization(ctx, today.AddDate(0, -1, -keptAtAll), foldedRows) // one month more, because the row has the whole month
		if done += n; err != nil || n < foldedRows {
			return done, err
		}
	}
}

// lastAndHighest returns a day's last and highest records, which FoldUtilization keeps.
func lastAndHighest(records []ipam.UsedAt) []ipam.UsedAt {
	last := len(records) - 1
	if last < 1 {
		return records
	}
	highest := last
	for i, r := range records {
		if r.Used.Cmp(records[highest].Used) > 0 {
			highest = i
		}
	}
	if highest == last {
		return records[last:]
	}
	return []ipam.UsedAt{records[highest], records[last]}
}
