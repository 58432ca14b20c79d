package write

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// regionDeletes deletes loans and pool shares, before the pools themselves are deleted.
func (w *Statements) regionDeletes(ch storage.RegionChanges) {
	for _, group := range byBorrower(ch.LoanDelete) {
		bases, lengths, _ := loanArrays(group)
		w.hit("loan_delete", len(group), group[0].PoolID, group[0].Region, bases, lengths)
	}
	for _, c := range ch.PoolRegionDelete {
		w.hit("pool_region_delete", 1, c.PoolID, c.Now.Region, c.Was)
		w.hit("stock_delete", 1, c.Now.Region, c.PoolID, c.Was)
	}
}

func (w *Statements) regionUpdates(ch storage.RegionChanges) {
	if e := ch.EpochReset; e != nil {
		w.hit("pool_region_epoch", 1, e.PoolID, e.Region, e.Record, e.Now)
		if e.Rows.IsZero() {
			w.hit("stock_insert", 1, e.Region, e.PoolID, e.Now)
		} else {
			w.hit("stock_update", 1, e.Region, e.PoolID, e.Rows, e.Now)
		}
	}
	for _, c := range ch.PoolRegionUpdate {
		n := c.Now
		w.hit("pool_region_update", 1, c.PoolID, n.Region, c.Was, n.Epoch, n.Loan, n.LoanedAt, n.Lasted.Milliseconds())
		w.hit("stock_update", 1, n.Region, c.PoolID, c.Was, n.Epoch)
	}
}

func (w *Statements) regionInserts(ch storage.RegionChanges) {
	for _, c := range ch.PoolRegionInsert {
		n := c.Now
		hitRow(w, "pool_region_insert", rows.PoolRegions, rows.PoolRegion{Pool: c.PoolID, PoolRegion: n})
		w.hit("stock_insert", 1, n.Region, c.PoolID, n.Epoch)
	}
	for _, group := range byBorrower(ch.LoanInsert) {
		bases, lengths, at := loanArrays(group)
		w.hit("loan_insert", len(group), group[0].PoolID, group[0].Region, bases, lengths, at)
	}
}

// byBorrower groups loans by pool and region. The groups are in the order of their first loans.
func byBorrower(list []ipam.Loan) (groups [][]ipam.Loan) {
	type borrower struct {
		pool   ipam.ID
		region string
	}
	at := map[borrower]int{}
	for _, l := range list {
		b := borrower{l.PoolID, l.Region}
		i, known := at[b]
		if !known {
			i = len(groups)
			at[b], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

func loanArrays(list []ipam.Loan) (bases [][]byte, lengths []int16, at []time.Time) {
	for _, l := range list {
		bases, lengths, at = append(bases, rows.Base(l.Block)), append(lengths, rows.Length(l.Block)), append(at, l.LentAt)
	}
	return bases, lengths, at
}
