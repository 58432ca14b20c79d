package audit

import (
	"context"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Stocks counts every container's free and cooling blocks in each region. Each container's version row (its fence) stores the same counts, and they
// must be equal.
func Stocks(ctx context.Context, db lookup.Querier) (map[lookup.FenceKey]ipam.Stock, error) {
	records, err := db.Query(ctx, statement("fences"))
	if err != nil {
		return nil, err
	}
	stocks := map[lookup.FenceKey]ipam.Stock{}
	var (
		at            lookup.FenceKey
		bits          *int
		free, cooling int64
	)
	_, err = pgx.ForEachRow(records, []any{&at.Region, &at.ID, &bits, &free, &cooling}, func() (err error) {
		if bits == nil {
			bits = new(int)
		}
		stocks[at], err = stocks[at].Plus(ipam.Stock{Free: map[int]int64{*bits: free}, Cooling: map[int]int64{*bits: cooling}})
		return err
	})
	return stocks, err
}

// stockViolations compares the counts in the version rows with the counted blocks.
func stockViolations(ctx context.Context, tx pgx.Tx) ([]Finding, error) {
	counted, err := Stocks(ctx, tx)
	if err != nil {
		return nil, err
	}
	records, err := tx.Query(ctx, statement("fences_stored"))
	if err != nil {
		return nil, err
	}
	var at lookup.FenceKey
	var stored []byte
	var project bool
	found := findings{invariant: "fences"}
	find := func(at lookup.FenceKey, format string, args ...any) {
		found.add(at.ID.String(), fmt.Sprintf(format, args...)+" in region "+at.Region)
	}
	if _, err = pgx.ForEachRow(records, []any{&at.Region, &at.ID, &stored, &project}, func() error {
		want, there := counted[at]
		there = there || project // a project's version row has a version but no counts
		delete(counted, at)
		switch says, err := rows.DecodeStock(stored); {
		case err != nil:
			find(at, "%s", err.Error())
		case !there:
			find(at, "a fence exists without a container")
		case !maps.Equal(says.Free, want.Free):
			find(at, "the fence counts the free blocks by length as %v, but the rows are %v,", says.Free, want.Free)
		case !maps.Equal(says.Cooling, want.Cooling):
			find(at, "the fence counts the cooling blocks by length as %v, but the rows are %v,", says.Cooling, want.Cooling)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for at := range counted {
		find(at, "the container has no fence")
	}
	return found.shown(), nil
}
