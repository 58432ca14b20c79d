package rivals

import (
	"context"
	"errors"
)

// openCarveBatch measures batches in process: each call of the use case makes a batch of claims.
func openCarveBatch(ctx context.Context, db *database, c cell) (*session, error) {
	f, err := newCarved(ctx, db, c.held)
	if err != nil {
		return nil, err
	}
	if err := f.settle(ctx, c); err != nil {
		return nil, errors.Join(err, f.close())
	}
	next := newNames(c.clients)
	return &session{
		many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			made, err := f.batch(ctx, poolName, c.contestant.each, func(int) string { return next.name(client) })
			if err != nil {
				return handed, err
			}
			for _, claim := range made {
				n, err := number(claim.Block)
				if err != nil {
					return handed, err
				}
				handed = append(handed, n)
			}
			return handed, nil
		},
		check: f.check(c),
		close: f.close,
	}, nil
}

// openCarveHTTPBatch measures batches over HTTP.
func openCarveHTTPBatch(ctx context.Context, db *database, c cell) (*session, error) {
	s, err := serveCarved(ctx, db, c)
	if err != nil {
		return nil, err
	}
	next := newNames(c.clients)
	return s.session(ctx, "claim-batches", c, func(p *poster) *session {
		return &session{many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			answer, err := p.post(ctx, client, batchBody(c.contestant.each, poolName, func() string { return next.name(client) }))
			if err != nil {
				return handed, err
			}
			return blocksIn(answer, c.contestant.each, handed)
		}}
	})
}

func batchBody(n int, pool string, name func() string) []byte {
	body := []byte(`{"claims":[`)
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		body = claimBody(body, name(), pool)
	}
	return append(body, "]}"...)
}

// blocksIn appends the numbers of the n blocks in a response.
func blocksIn(answer []byte, n int, handed []uint64) ([]uint64, error) {
	rest := answer
	for range n {
		got, after, err := blockIn(rest)
		if err != nil {
			return handed, err
		}
		one, err := number(got)
		if err != nil {
			return handed, err
		}
		handed, rest = append(handed, one), after
	}
	return handed, nil
}
