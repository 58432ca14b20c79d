package utilization

import (
	"context"
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// DefaultEvery is how often it is recorded how much of pools is used, unless somebody says otherwise.
const DefaultEvery = time.Hour

const (
	keptInFull = 14  // days of which every record is kept
	keptAtAll  = 400 // days of which the last and the highest record are
	recordRows = 200 // pools of one step
	foldedRows = 500 // days of one step
)

// Store is where it is recorded. What is recorded is of the store's region, unless it is said otherwise.
type Store interface {
	// UtilizationDue answers up to limit pools at home in the region with ids after the given one, in order of id, with what was recorded last of each today.
	UtilizationDue(ctx context.Context, today time.Time, after ipam.ID, limit int) ([]Due, error)
	// Stocks is that of storage.Reader.
	Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error)
	// RecordUtilization adds records to those of their pools of today, and says how many: none for pools that are gone, or of which somebody has recorded
	// anything since a time.
	RecordUtilization(ctx context.Context, today, since time.Time, records []Record) (int64, error)
	// FoldUtilization has some of the rows of days before a time become part of their months, with what is to be kept of each day, and says how many.
	FoldUtilization(ctx context.Context, before time.Time, limit int, kept func([]ipam.UsedAt) []ipam.UsedAt) (int, error)
	// ExpireUtilization deletes some months that began before a time, and says how many.
	ExpireUtilization(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Due is a pool of which it may be recorded how much is used.
type Due struct {
	Pool   ipam.Pool // no more than what is needed to read its stock
	Latest time.Time // when anything was recorded of it today; zero: never
	Used   *big.Int  // what that was
}

// Record is how much of a pool is used.
type Record struct {
	PoolID ipam.ID
	ipam.UsedAt
}

// Recorder records how much of the pools at home in a region is used. It can work on several servers at once, and be stopped at any time: of one time there is
// one record, whoever comes first. Make one with NewRecorder; it is for one goroutine.
type Recorder struct {
	store Store
	every time.Duration
	clock func() time.Time
	done  time.Time // the beginning of the time of which all is recorded
}

// NewRecorder makes one that records once in each time of a length; clock is the database's, or a test's.
func NewRecorder(store Store, every time.Duration, clock func() time.Time) *Recorder {
	return &Recorder{store: store, every: every, clock: clock}
}

// Record records all pools unless it has done so since the present time began, and says of how many there was something new to record: of one that is as it was
// nothing is written, but once a day.
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

// record records those of some pools of which nothing was since a time, and of which another number of addresses is used than was recorded today. The stock
// of a pool is read in all its regions at one moment.
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
	if len(records) == 0 || at.Sub(today) >= day || at.Before(since) { // it became another day, or the clock was set: the next time
		return 0, nil
	}
	return r.store.RecordUtilization(ctx, today, since, records)
}

// Thin keeps less of what was recorded long ago, and at last nothing, in small portions until all is done. It says how many rows that was about.
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

// lastAndHighest is what is kept of a day.
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
