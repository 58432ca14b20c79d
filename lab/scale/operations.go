package scale

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// operation is a measured use case. It leaves the data unchanged.
type operation struct {
	name string
	// run returns whole as false if the page does not contain the wanted item although the item exists. The caller must then request the next page.
	run func(ctx context.Context, w *world, p place) (whole bool, err error)
}

const (
	// OpClaim and opRelease are measured as a pair, because each undoes the other.
	OpClaim   = "claim"
	opRelease = "release"
	// OpList reads a page of 100 claims by name.
	OpList = "list"
	// OpListInPool reads a page of 100 of a pool's claims, by address.
	OpListInPool = "list in pool"
)

// reads returns all operations except claims and releases.
func reads() []operation {
	return []operation{
		{name: "refuse", run: refuse}, // a claim for a block outside the pool
		{name: "get", run: getClaim},  // one claim by name
		{name: OpList, run: listClaims},
		{name: OpListInPool, run: listInPool},
		{name: "capacity", run: getPool}, // a pool with its free capacity
		{name: "free", run: getFree},     // a page of 100 free blocks in a pool
		{name: "lookup", run: lookUp},    // allocation of an address, with the parameters pool and within
		{name: "holder", run: holder},    // holder of an address, from the history
		{name: "search", run: search},    // allocation of an address, with the parameters pool and contains
	}
}

func claim(ctx context.Context, w *world, p place, name string) error {
	r := request
	if w.db.keyed {
		r.Key, r.Fingerprint = rand.Text(), [16]byte{1}
	}
	_, err := w.service.CreateClaim(caller(ctx, "createClaim", ""), p.project, ask(p.pool, name, &p.bits), r)
	return err
}

func release(ctx context.Context, w *world, p place, name string) error {
	return w.service.DeleteClaim(caller(ctx, "deleteClaim", name), p.project, name, request)
}

func refuse(ctx context.Context, w *world, p place) (bool, error) {
	_, err := w.service.CreateClaim(caller(ctx, "createClaim", ""), p.project, ask(p.tight, "refused", &p.atMost), request)
	if !ipam.IsCode(err, ipam.CodePoolExhausted) {
		return false, fmt.Errorf("a claim of the whole of %s should be refused as exhausted, and the answer is: %w", p.tight, err)
	}
	return true, nil
}

func getClaim(ctx context.Context, w *world, p place) (bool, error) {
	c, err := w.service.GetClaim(caller(ctx, "getClaim", p.claim), p.project, p.claim, usecase.Reading{})
	if err == nil && c.Pool != p.near {
		err = fmt.Errorf("claim %s is in pool %s, not %s", p.claim, c.Pool, p.near)
	}
	return true, err
}

func listClaims(ctx context.Context, w *world, p place) (bool, error) {
	after := ""
	if p.afterName != "" {
		var err error
		if after, err = cursor("claims", p.afterName); err != nil {
			return false, err
		}
	}
	got, err := w.service.ListClaims(caller(ctx, "listClaims", ""), p.project, paging.Filter{}, page, after, usecase.Reading{})
	return full(got, p, err)
}

func listInPool(ctx context.Context, w *world, p place) (bool, error) {
	after := ""
	if p.afterAddress.IsValid() {
		var err error
		if after, err = cursor("claims-in-pool", p.afterAddress); err != nil {
			return false, err
		}
	}
	got, err := w.service.ListClaims(caller(ctx, "listClaims", ""), p.project, paging.Filter{Pool: p.near}, page, after, usecase.Reading{})
	return full(got, p, err)
}

// full checks that a page has the expected number of claims and that all of them are from the pool.
func full(got paging.Page[ipam.Claim], p place, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	if want := p.inPage(); len(got.Items) != want {
		return false, fmt.Errorf("a page has %d claims instead of %d", len(got.Items), want)
	}
	for i := range got.Items {
		if got.Items[i].Pool != p.near {
			return false, fmt.Errorf("a page of claims in %s has %s of %s", p.near, got.Items[i].Name, got.Items[i].Pool)
		}
	}
	return true, nil
}

func getPool(ctx context.Context, w *world, p place) (bool, error) {
	got, err := w.service.GetPool(caller(ctx, "getPool", p.pool.Name), p.project, p.pool.Name, usecase.Reading{})
	if err == nil && got.Stock.Available(got.Family().Bits()).Sign() == 0 {
		err = fmt.Errorf("nothing is free in pool %s", p.pool)
	}
	return true, err
}

func getFree(ctx context.Context, w *world, p place) (bool, error) {
	got, err := w.service.GetPoolFree(caller(ctx, "getPoolFree", p.pool.Name), p.project, p.pool.Name, nil, page, "", usecase.Reading{})
	if err == nil && len(got.Blocks) == 0 {
		err = fmt.Errorf("nothing is free in pool %s", p.pool)
	}
	return true, err
}

func lookUp(ctx context.Context, w *world, p place) (bool, error) {
	whole, err := find(ctx, w, p, paging.Filter{Pool: p.near, Within: ipam.HostBlock(p.address)})
	if err == nil && !whole {
		err = fmt.Errorf("looking up %s found nothing", p.address)
	}
	return whole, err
}

func search(ctx context.Context, w *world, p place) (bool, error) {
	return find(ctx, w, p, paging.Filter{Pool: p.near, Contains: p.address})
}

func find(ctx context.Context, w *world, p place, f paging.Filter) (bool, error) {
	got, err := w.service.ListAllocations(caller(ctx, "listAllocations", ""), p.project, f, page, "", usecase.Reading{})
	switch {
	case err != nil:
		return false, err
	case len(got.Items) == 1 && got.Items[0].Block == ipam.HostBlock(p.address):
		return true, nil
	case len(got.Items) == 0 && got.Next != "":
		return false, nil
	default:
		return false, fmt.Errorf("looking up %s found %d allocations", p.address, len(got.Items))
	}
}

func holder(ctx context.Context, w *world, p place) (bool, error) {
	got, err := w.service.GetHistory(caller(ctx, "getHistory", ""), p.project, p.address, time.Time{}, 1, "", usecase.Reading{})
	if err == nil && (len(got.Items) != 1 || !got.Items[0].Until.IsZero() || got.Items[0].Pool != p.near) {
		err = fmt.Errorf("the holder of %s is not what was loaded: %+v", p.address, got.Items)
	}
	return true, err
}
