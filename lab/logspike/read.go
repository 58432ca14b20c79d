package logspike

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"sync"

	"github.com/jackc/pgx/v5"
)

// named is the hold with a name. An ended hold keeps its name until it is deleted.
type named struct {
	Hold
	ended bool
}

// names returns the holds with these names of a project.
func (s *store) names(ctx context.Context, project ID, names []string) (map[use]named, error) {
	rows, err := s.db.Query(ctx, namesList, repeated(project, len(names)), names)
	if err != nil {
		return nil, err
	}
	out := map[use]named{}
	var n named
	var block []byte
	_, err = pgx.ForEachRow(rows, []any{&n.Name, &n.Pool, &block, &n.Seq, &n.ended}, func() (err error) {
		n.Block, err = parseBlock(block)
		out[use{project, n.Name, false}] = n
		return err
	})
	return out, err
}

// keyed is the request with an idempotency key, with its answer.
type keyed struct {
	digest []byte
	holds  []Hold
}

// keys returns the requests with these idempotency keys of a project. Their log rows contain the answers.
func (s *store) keys(ctx context.Context, project ID, keys []string) (map[use]keyed, error) {
	rows, err := s.db.Query(ctx, keysList, repeated(project, len(keys)), keys)
	if err != nil {
		return nil, err
	}
	out := map[use]keyed{}
	var key, body string
	var digest, block []byte
	var pool ID
	var seq int64
	_, err = pgx.ForEachRow(rows, []any{&key, &digest, &pool, &block, &seq, &body}, func() error {
		var log logBody
		if err := json.Unmarshal([]byte(body), &log); err != nil {
			return err
		}
		first, err := parseBlock(block)
		out[use{project, key, true}] = keyed{digest, log.answer(pool, seq, first)}
		return err
	})
	return out, err
}

// answer returns the holds of the request that claimed a block.
func (l logBody) answer(pool ID, seq int64, first netip.Prefix) (holds []Hold) {
	request := -1
	for _, c := range l.Changes {
		if c.Op == opClaim && c.Block == first {
			request = c.Request
		}
	}
	for _, c := range l.Changes {
		if c.Request == request {
			holds = append(holds, Hold{Pool: pool, Block: c.Block, Seq: seq, Name: c.Name})
		}
	}
	return holds
}

// lookups collects the names that releases look up. One query serves all that wait.
type lookups struct {
	mu      sync.Mutex
	waiting []*lookup
	running int
}

type lookup struct {
	project ID
	name    string
	held    named
	err     error
	done    chan struct{}
}

// maxLookups is the number of queries for names at the same time.
const maxLookups = 2

// find returns the hold with a name. It repeats the read until it succeeds or the context ends.
func (e *Engine) find(ctx context.Context, project ID, name string) (held Hold, err error) {
	for attempt := 0; pause(ctx, attempt) == nil; attempt++ {
		if held, err = e.findOnce(ctx, project, name); err == nil || !retryable(err) {
			return held, err
		}
	}
	return Hold{}, errors.Join(err, ctx.Err())
}

func (e *Engine) findOnce(ctx context.Context, project ID, name string) (Hold, error) {
	l := &lookup{project: project, name: name, done: make(chan struct{})}
	q := &e.look
	q.mu.Lock()
	q.waiting = append(q.waiting, l)
	if q.running < maxLookups {
		q.running++
		go q.run(e.ctx, e.store)
	}
	q.mu.Unlock()
	select {
	case <-l.done:
		return l.held.Hold, l.err
	case <-ctx.Done():
		return Hold{}, ctx.Err()
	}
}

func (q *lookups) run(ctx context.Context, s *store) {
	for {
		q.mu.Lock()
		all := q.waiting
		q.waiting = nil
		if len(all) == 0 {
			q.running--
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		names := map[ID][]string{}
		for _, l := range all {
			names[l.project] = append(names[l.project], l.name)
		}
		for project, some := range names {
			found, err := s.names(ctx, project, some)
			for _, l := range all {
				if l.project == project {
					l.answer(found, err)
				}
			}
		}
	}
}

func (l *lookup) answer(found map[use]named, err error) {
	var there bool
	l.held, there = found[use{l.project, l.name, false}]
	if l.err = err; err == nil && (!there || l.held.ended) {
		l.err = &Refusal{Code: NotFound, Name: l.name}
	}
	close(l.done)
}

// Holds lists a page of a pool's holds by address, after the given one.
func (e *Engine) Holds(ctx context.Context, pool ID, after Hold, limit int) ([]Hold, error) {
	block := []byte{}
	if after.Block.IsValid() {
		block = appendBlock(block, after.Block)
	}
	rows, err := e.store.db.Query(ctx, poolList, pool, block, after.Seq, limit)
	return collectHolds(rows, err, pool)
}

// ByName lists a page of a project's holds by name, after the given name.
func (e *Engine) ByName(ctx context.Context, project ID, after string, limit int) ([]Hold, error) {
	rows, err := e.store.db.Query(ctx, projectList, project, after, limit)
	if err != nil {
		return nil, err
	}
	var out []Hold
	var h Hold
	var block []byte
	var body *string
	_, err = pgx.ForEachRow(rows, []any{&h.Name, &h.Pool, &block, &h.Seq, &body}, func() (err error) {
		h.Body = value(body)
		h.Block, err = parseBlock(block)
		out = append(out, h)
		return err
	})
	return out, err
}

// At returns the hold that contains an address.
func (e *Engine) At(ctx context.Context, pool ID, addr netip.Addr) (Hold, error) {
	last := appendBlock(nil, netip.PrefixFrom(addr, addr.BitLen()))
	rows, err := e.store.db.Query(ctx, addressGet, pool, last)
	holds, err := collectHolds(rows, err, pool)
	if err == nil && (len(holds) == 0 || !holds[0].Block.Contains(addr)) {
		err = &Refusal{Code: NotFound, Name: addr.String()}
	}
	if err != nil {
		return Hold{}, err
	}
	return holds[0], nil
}

func collectHolds(rows pgx.Rows, err error, pool ID) ([]Hold, error) {
	if err != nil {
		return nil, err
	}
	var out []Hold
	h := Hold{Pool: pool}
	var block []byte
	var name, body *string
	_, err = pgx.ForEachRow(rows, []any{&block, &h.Seq, &name, &body}, func() (err error) {
		h.Name, h.Body = value(name), value(body)
		h.Block, err = parseBlock(block)
		out = append(out, h)
		return err
	})
	return out, err
}

// value returns a text that may be NULL.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
