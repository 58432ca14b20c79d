package rivals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/lab/logspike"
)

// The contestants of the prototype in lab/logspike.
const (
	logInProcess  = "log, in process"
	logTwoServers = "log, in process, two servers"
	logHTTP       = "log, HTTP"
	logKeys       = "log, HTTP, with keys"
	logOwnPools   = "log, HTTP, own pools"
	logOwnInserts = "log, HTTP, own pools, an INSERT each"
	logRelease    = "log, HTTP, release"
	logRefuse     = "log, HTTP, refuse"
	logBatch      = "log, batch of 1,000"
	logIndexes2   = "log, HTTP, 2 more indexes"
	logIndexes4   = "log, HTTP, 4 more indexes"
	logQuota      = "log, HTTP, a quota"
	logOwnQuota   = "log, HTTP, own pools, a quota"
	logTwoOwn     = "log, in process, two servers, own pools"
	logTwoQuota   = "log, in process, two servers, own pools, a quota"
)

// logContestants lists the contestants of the prototype.
var logContestants = []*contestant{
	{logInProcess, true, "claims", 1, openLog},
	{logTwoServers, true, "claims", 1, openLog},
	{logHTTP, true, "claims", 1, openLogHTTP},
	{logKeys, true, "claims", 1, openLogHTTP},
	{logOwnPools, true, "claims", 1, openLogHTTP},
	{logOwnInserts, true, "claims", 1, openLogHTTP},
	{logIndexes2, true, "claims", 1, openLogHTTP},
	{logIndexes4, true, "claims", 1, openLogHTTP},
	{logQuota, true, "claims", 1, openLogHTTP},
	{logOwnQuota, true, "claims", 1, openLogHTTP},
	{logTwoOwn, true, "claims", 1, openLog},
	{logTwoQuota, true, "claims", 1, openLog},
	{logRelease, true, "releases", 1, openLogRelease},
	{logRefuse, true, "refusals", 1, openLogRefuse},
	{logBatch, true, "claims", claims.MaxBatch, openLogBatch},
}

// logLines compares the prototype with the floors and with Carve. They are figures without a goal. Only a run with the flag -only measures them.
var logLines = []compared{
	{name: "log: claims over HTTP / HTTP + INSERT", of: logHTTP, to: httpInsert, clients: 1, figure: rate},
	{name: "log: with Idempotency-Keys / HTTP + INSERT", of: logKeys, to: httpInsert, clients: 1, figure: rate},
	{name: "log: Carve over HTTP / HTTP + INSERT", of: overHTTP, to: httpInsert, clients: 1, figure: rate},
	{name: "log: claims over HTTP / HTTP + INSERT", of: logHTTP, to: httpInsert, clients: 32, figure: rate},
	{name: "log: with Idempotency-Keys / HTTP + INSERT", of: logKeys, to: httpInsert, clients: 32, figure: rate},
	{name: "log: Carve over HTTP / HTTP + INSERT", of: overHTTP, to: httpInsert, clients: 32, figure: rate},
	{name: "log: claims over HTTP / HTTP + INSERT", of: logHTTP, to: httpInsert, clients: 64, figure: rate},
	{name: "log: with Idempotency-Keys / HTTP + INSERT", of: logKeys, to: httpInsert, clients: 64, figure: rate},
	{name: "log: Carve over HTTP / HTTP + INSERT", of: overHTTP, to: httpInsert, clients: 64, figure: rate},
	{name: "log: claims from own pools / from one pool", of: logOwnPools, to: logHTTP, clients: 32, figure: rate},
	{name: "log: claims from own pools / HTTP + INSERT", of: logOwnPools, to: httpInsert, clients: 32, figure: rate},
	{name: "log: an INSERT for each pool / an INSERT for all", of: logOwnInserts, to: logOwnPools, clients: 32, figure: rate},
	{name: "log: p95 of a release / of a claim", of: logRelease, to: logHTTP, clients: 32, figure: p95},
	{name: "log: p95 of a refusal / of a claim", of: logRefuse, to: logHTTP, clients: 32, figure: p95},
	{name: "log: claims in process / INSERT", of: logInProcess, to: insert, clients: 32, figure: rate},
	{name: "log: claims in process / INSERT", of: logInProcess, to: insert, clients: 64, figure: rate},
	{name: "log: two servers on one pool / one server", of: logTwoServers, to: logInProcess, clients: 32, figure: rate},
	{name: "log: batches of 1,000 in process / 100-row INSERT", of: logBatch, to: insertBatch, clients: 1, figure: rate},
	{name: "log: 2 more indexes / none", of: logIndexes2, to: logHTTP, clients: 32, figure: rate},
	{name: "log: 4 more indexes / none", of: logIndexes4, to: logHTTP, clients: 32, figure: rate},
	{name: "log: a quota / none", of: logQuota, to: logHTTP, clients: 1, figure: rate},
	{name: "log: a quota / none", of: logQuota, to: logHTTP, clients: 32, figure: rate},
	{name: "log: own pools, a quota / none", of: logOwnQuota, to: logOwnPools, clients: 32, figure: rate},
	{name: "log: two servers, own pools, a quota / none", of: logTwoQuota, to: logTwoOwn, clients: 32, figure: rate},
	{name: "log: bytes of the database's log for a claim", of: logHTTP, clients: 64, figure: logBytes},
}

// moreIndexes stand for the indexes of the product on owner, labels, region and creation time. They have columns of the same size.
var moreIndexes = []string{
	"CREATE INDEX more_owner ON entries (project, kind, name) WHERE kind = 1",
	"CREATE INDEX more_labels ON entries (project, body) WHERE kind = 1",
	"CREATE INDEX more_region ON entries (pool, at) WHERE kind = 1",
	"CREATE INDEX more_created ON entries (project, at) WHERE kind = 1",
}

// logged is an engine of the prototype on a database of its own.
type logged struct {
	db      *pgxpool.Pool
	engine  *logspike.Engine
	project logspike.ID
	quota   logspike.ID
	names   logspike.Names
	done    func() error
}

func newLogged(ctx context.Context, db *database, c cell) (*logged, error) {
	l := &logged{project: uuid.New()}
	l.names = logspike.Names{Projects: map[string]logspike.ID{"bench": l.project}, Pools: map[string]logspike.ID{}}
	name, err := db.fresh(ctx)
	if err != nil {
		return nil, err
	}
	l.done = func() error { return db.Drop(name) }
	if l.db, err = logspike.Open(ctx, db.DSN(name), connections); err != nil {
		return nil, errors.Join(err, l.close())
	}
	indexes := map[string]int{logIndexes2: 2, logIndexes4: 4}[c.contestant.name]
	if err := logspike.Create(ctx, l.db, moreIndexes[:indexes]...); err != nil {
		return nil, errors.Join(err, l.close())
	}
	o := logspike.Options{}
	if c.contestant.name == logOwnInserts {
		o.PoolsPerSend, o.Workers = 1, connections-2
	}
	l.engine = logspike.New(l.db, o)
	err = l.pool(ctx, poolName, poolCIDR)
	if slices.Contains([]string{logQuota, logOwnQuota, logTwoQuota}, c.contestant.name) {
		l.quota = uuid.New()
		err = errors.Join(err, logspike.CreateQuota(ctx, l.db, l.quota, 1<<40))
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// clientPools returns the pool of each client. It creates the pools, unless all clients use one.
func (l *logged) clientPools(ctx context.Context, c cell) (pools []string, err error) {
	own := slices.Contains([]string{logOwnPools, logOwnInserts, logOwnQuota, logTwoOwn, logTwoQuota}, c.contestant.name)
	for i := range c.clients {
		name := poolName
		if own {
			name = fmt.Sprintf("own-%d", i)
			err = errors.Join(err, l.pool(ctx, name, fmt.Sprintf("11.%d.0.0/14", 4*i)))
		}
		pools = append(pools, name)
	}
	return pools, err
}

func (l *logged) pool(ctx context.Context, name, cidr string) error {
	l.names.Pools[name] = uuid.New()
	return logspike.CreatePool(ctx, l.db, l.names.Pools[name], netip.MustParsePrefix(cidr))
}

func (l *logged) close() error {
	if l.engine != nil {
		l.engine.Close()
	}
	if l.db != nil {
		l.db.Close()
	}
	return l.done()
}

// check checks the data after the first round.
func (l *logged) check(c cell) func(context.Context) error {
	if c.round > 0 {
		return nil
	}
	return func(ctx context.Context) error {
		for _, pool := range l.names.Pools {
			if _, err := logspike.Audit(ctx, l.db, pool); err != nil {
				return err
			}
		}
		return nil
	}
}

// claims makes n claims with names from heldName.
func (l *logged) claims(ctx context.Context, pool string, n int) error {
	for from := 0; from < n; from += claims.MaxBatch {
		if _, err := l.batch(ctx, l.engine, pool, min(claims.MaxBatch, n-from), func(i int) string { return heldName(from + i) }); err != nil {
			return err
		}
	}
	return nil
}

func (l *logged) batch(ctx context.Context, e *logspike.Engine, pool string, n int, name func(int) string) ([]logspike.Hold, error) {
	all := make([]logspike.Claim, n)
	for i := range all {
		all[i] = logspike.Claim{Name: name(i), Length: addressBits}
	}
	return e.Submit(ctx, logspike.Request{Project: l.project, Pool: l.names.Pools[pool], Quota: l.quota, Claims: all})
}

// openLog measures claims in process. The clients use one server, or two servers by turns.
func openLog(ctx context.Context, db *database, c cell) (*session, error) {
	l, err := newLogged(ctx, db, c)
	if err != nil {
		return nil, err
	}
	pools, err := l.clientPools(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	engines, done := []*logspike.Engine{l.engine}, l.close
	if c.contestant.name != logInProcess {
		second := logspike.New(l.db, logspike.Options{})
		engines = append(engines, second)
		done = func() error { second.Close(); return l.close() }
	}
	next := newNames(c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			holds, err := l.batch(ctx, engines[client%len(engines)], pools[client], 1, func(int) string { return next.name(client) })
			if err != nil {
				return 0, err
			}
			return number(holds[0].Block)
		},
		check: l.check(c),
		close: done,
	}, nil
}

func openLogBatch(ctx context.Context, db *database, c cell) (*session, error) {
	l, err := newLogged(ctx, db, c)
	if err != nil {
		return nil, err
	}
	next := newNames(c.clients)
	return &session{
		many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			holds, err := l.batch(ctx, l.engine, poolName, claims.MaxBatch, func(int) string { return next.name(client) })
			for _, h := range holds {
				n, wrong := number(h.Block)
				handed, err = append(handed, n), errors.Join(err, wrong)
			}
			return handed, err
		},
		check: l.check(c),
		close: l.close,
	}, nil
}

// serve returns a session whose clients send requests to the engine over HTTP.
func (l *logged) serve(ctx context.Context, c cell, hand func(*poster) *session) (*session, error) {
	addr, stop, err := listen(ctx, logspike.Handler(l.engine, l.names, l.quota))
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	p := newPoster(addr, "/v1/projects/bench/claims", "", c.clients)
	made := hand(p)
	made.check = l.check(c)
	made.close = func() error { p.close(); return errors.Join(stop(), l.close()) }
	return made, nil
}

func openLogHTTP(ctx context.Context, db *database, c cell) (*session, error) {
	l, err := newLogged(ctx, db, c)
	if err != nil {
		return nil, err
	}
	pools, err := l.clientPools(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	next := newNames(c.clients)
	return l.serve(ctx, c, func(p *poster) *session {
		p.keyed = c.contestant.name == logKeys
		return &session{hand: func(ctx context.Context, client int) (uint64, error) {
			answer, err := p.post(ctx, client, claimBody(nil, next.name(client), pools[client]))
			if err != nil {
				return 0, err
			}
			got, _, err := blockIn(answer)
			if err != nil {
				return 0, err
			}
			return number(got)
		}}
	})
}

func openLogRelease(ctx context.Context, db *database, c cell) (*session, error) {
	l, err := newLogged(ctx, db, c)
	if err != nil {
		return nil, err
	}
	order := shuffled(int(c.lasts.Seconds()*releases)+1, claims.MaxBatch)
	if err := l.claims(ctx, poolName, len(order)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	var next atomic.Int64
	return l.serve(ctx, c, func(p *poster) *session {
		return &session{many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			n := int(next.Add(1)) - 1
			if n >= len(order) {
				return handed, errRanOut
			}
			answer, status, err := p.remove(ctx, client, "/"+heldName(order[n]))
			if err == nil && status != http.StatusNoContent {
				err = fmt.Errorf("a release was answered %d: %s", status, answer)
			}
			return handed, err
		}}
	})
}

func openLogRefuse(ctx context.Context, db *database, c cell) (*session, error) {
	const full = "full"
	l, err := newLogged(ctx, db, c)
	if err != nil {
		return nil, err
	}
	if err = l.pool(ctx, full, "172.16.0.0/24"); err == nil {
		err = l.claims(ctx, full, 256)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	next := newNames(c.clients)
	return l.serve(ctx, c, func(p *poster) *session {
		return &session{many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			answer, status, err := p.send(ctx, client, claimBody(nil, next.name(client), full))
			if err == nil && (status != http.StatusConflict || !bytes.Contains(answer, []byte(logspike.Full))) {
				err = fmt.Errorf("answered %d where none is left: %s", status, answer)
			}
			return handed, err
		}}
	})
}
