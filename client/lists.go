package client

import (
	"context"
	"iter"
	"net/http"
)

// Each list of the contract is also available as a sequence: for pool, err := range c.Pools(ctx, "team-a"). The optional parameters have the filters
// and the page size. The methods do not change the parameters. A sequence ends at the end of the list or after the first error. Each range over a
// sequence starts at its first item again. client.gen.go has these methods for the operations List...; this file has the others.

// FreeBlocks lists a pool's free blocks in address order.
func (c *Carve) FreeBlocks(ctx context.Context, project string, pool string, params ...GetPoolFreeParams) iter.Seq2[FreeBlock, error] {
	p := valueOf(params)
	return pages[FreeBlock](&p.Cursor, func() (*http.Response, error) { return c.Raw.GetPoolFree(ctx, project, pool, &p) })
}

// HistoryEntries lists the past and present holders of an address, with their times.
func (c *Carve) HistoryEntries(ctx context.Context, project string, params GetHistoryParams) iter.Seq2[HistoryEntry, error] {
	return pages[HistoryEntry](&params.Cursor, func() (*http.Response, error) { return c.Raw.GetHistory(ctx, project, &params) })
}

// Regions lists the installation's regions. One request returns all of them.
func (c *Carve) Regions(ctx context.Context) iter.Seq2[Region, error] {
	return pages[Region](new(*Cursor), func() (*http.Response, error) { return c.Raw.ListRegions(ctx) })
}

// valueOf copies the optional parameters. The methods then change only the copy while they fetch pages.
func valueOf[P any](params []P) (p P) {
	if len(params) > 0 {
		p = params[0]
	}
	return p
}
