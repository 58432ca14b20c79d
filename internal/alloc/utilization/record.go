package utilization

import (
	"context"
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DefaultEvery is the default interval of the records.
const DefaultEvery = time.Hour

const (
	keptInFull = 14  // days for which every record is kept
	keptAtAll  = 400 // days for which the last and the highest record are kept
	recordRows = 200 // pools in one step
	foldedRows = 500 // days in one step
)

// Store stores the records. A record is for the store's region, unless a method states otherwise.
type Store interface {
	// UtilizationDue returns up to limit pools at home in the region with ids after the given one, by id, each with today's last record.
	UtilizationDue(ctx context.Context, today time.Time, after ipam.ID, limit int) ([]Due, error)
	// Stocks is Stocks of storage.Reader.
	Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error)
	// RecordUtilization adds records to the pools' records of today, and returns their number. It skips pools that are gone, and pools that have a
	// record since a time.
	RecordUtilization(ctx context.Context, today, since time.Time, records []Record) (int64, error)
	// FoldUtilization moves some of the rows for days before a time into the rows of their months, with the records of each day that kept returns. It
	// returns the number of moved rows.
	FoldUtilization(ctx context.Context, before time.Time, limit int, kept func([]ipam.UsedAt) []ipam.UsedAt) (int, error)
	// ExpireUtilization deletes some months that began before a time, and returns their number.
	ExpireUtilization(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Due is a pool that may be due for a record.
type Due struct {
	Pool   ipam.Pool // only the fields for reading its stock
	Latest time.Time // the time of today's last record; zero: none
	Used   *big.Int  // the usage in that record
}

// Record is a pool's usage at a time.
type Record struct {
	PoolID ipam.ID
	ipam.UsedAt
}

// Recorder records the usage of the pools at home in a region. Several servers may run one at once, and it may stop at any time: each interval gets
// one record, from the first server. Make one with NewRecorder; it is for one goroutine.
type Recorder struct {
	store Store
	every time.Duration
	clock func() time.Time
	done  time.Time // the beginning of the last interval with all pools recorded
}

// NewRecorder makes a recorder with one record per interval; clock is the database's, or a test's.
func NewRecorder(store Store, every time.Duration, clock func() time.Time) *Recorder {
	return &Recorder{store: store, every: every, clock: clock}
}

// Record records all pools unless it has already done so in the current interval, and returns how many records it wrote. A pool without a change gets
// one record a day.
func (r *Recorder) Record(ctx context.Context) (recorded int64, err error) {
	began := r.clock().UTC().Truncate(r.every)
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

// record writes records for the pools on a page that have none since a time, if their usage differs from today's last record. It reads a pool's stock
// in all its regions at one moment.
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
	if len(records) == 0 || at.Sub(today) >= day || at.Before(since) { // the day has changed, or the clock was set: leave it to the next run
		return 0, nil
	}
	return r.store.RecordUtilization(ctx, today, since, records)
}

// Thin reduces old records, and finally deletes them, in small portions until all is done. It returns the number of rows.
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
		n, err := r.store.ExpireUtilization(ctx, today.AddDate(0, -1, -keptAtAll), foldedRows) // a month after it began
		if done += n; err != nil || n < foldedRows {
			return done, err
		}
	}
}

// lastAndHighest returns the records of a day to keep.
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
