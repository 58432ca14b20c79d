package crdb

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// regionDeletes end loans, and the records of pools in regions; before the pools themselves.
func (w *writer) regionDeletes(ch storage.RegionChanges) {
	for _, group := range byBorrower(ch.LoanDelete) {
		bases, lengths, _ := loanArrays(group)
		w.hit("loan_delete", len(group), uuid(group[0].PoolID), group[0].Region, bases, lengths)
	}
	for _, c := range ch.PoolRegionDelete {
		w.hit("pool_region_delete", 1, uuid(c.PoolID), c.Now.Region, uuid(c.Was))
		w.hit("stock_delete", 1, c.Now.Region, uuid(c.PoolID), uuid(c.Was))
	}
}

func (w *writer) regionUpdates(ch storage.RegionChanges) {
	if e := ch.EpochReset; e != nil {
		w.hit("pool_region_epoch", 1, uuid(e.PoolID), e.Region, uuid(e.Record), uuid(e.Now))
		if e.Rows.IsZero() {
			w.hit("stock_insert", 1, e.Region, uuid(e.PoolID), uuid(e.Now))
		} else {
			w.hit("stock_update", 1, e.Region, uuid(e.PoolID), uuid(e.Rows), uuid(e.Now))
		}
	}
	for _, c := range ch.PoolRegionUpdate {
		n := c.Now
		w.hit("pool_region_update", 1, uuid(c.PoolID), n.Region, uuid(c.Was), uuid(n.Epoch), n.Loan, n.LoanedAt, n.Lasted.Milliseconds())
		w.hit("stock_update", 1, n.Region, uuid(c.PoolID), uuid(c.Was), uuid(n.Epoch))
	}
}

func (w *writer) regionInserts(ch storage.RegionChanges) {
	for _, c := range ch.PoolRegionInsert {
		n := c.Now
		w.hit("pool_region_insert", 1, uuid(c.PoolID), n.Region, uuid(n.Epoch), n.Loan, n.LoanedAt, n.Lasted.Milliseconds())
		w.hit("stock_insert", 1, n.Region, uuid(c.PoolID), uuid(n.Epoch))
	}
	for _, group := range byBorrower(ch.LoanInsert) {
		bases, lengths, at := loanArrays(group)
		w.hit("loan_insert", len(group), uuid(group[0].PoolID), group[0].Region, bases, lengths, at)
	}
}

// byBorrower groups loans by pool and region, in the order in which they come.
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
		bases, lengths, at = append(bases, base(l.Block)), append(lengths, plen(l.Block)), append(at, l.LentAt)
	}
	return bases, lengths, at
}
