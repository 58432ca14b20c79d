package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// WithStock returns a pool with the figures about its free blocks.
func WithStock(ctx context.Context, read Reader, p ipam.Pool) (ipam.Pool, error) {
	list := []ipam.Pool{p}
	err := FillStock(ctx, read, list)
	return list[0], err
}

// FillStock reads the figures about all the pools' free blocks in one request.
func FillStock(ctx context.Context, read Reader, pools []ipam.Pool) error {
	if len(pools) == 0 {
		return nil
	}
	containers := make([]Container, 0, len(pools))
	for _, p := range pools {
		containers = append(containers, PoolContainers(p)...)
	}
	stocks, err := read.Stocks(ctx, containers)
	if err != nil {
		return err
	}
	for i := range pools {
		pools[i].Stock = stocks[pools[i].UID]
	}
	return nil
}
