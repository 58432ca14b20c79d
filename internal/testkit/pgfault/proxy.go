package pgfault

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Proxy listens on loopback and relays to one server under rules. Its methods are safe for concurrent use.
type Proxy struct {
	ctx      context.Context
	stop     context.CancelFunc
	listener net.Listener
	upstream upstream
	dsn      string
	rules    *ruleSet
	link     link
	wg       sync.WaitGroup
	after    func(time.Duration) <-chan time.Time // time.After; tests of delays replace it

	mu       sync.Mutex
	sessions map[int]*session // live sessions, by number
	conns    int              // number of sessions so far
}

// Start listens on a free port of 127.0.0.1 and relays to the server of upstreamDSN, which may name a unix socket. The
// proxy runs until Close or the end of ctx. It does not dial the server before the first client connects.
func Start(ctx context.Context, upstreamDSN string, rules ...Rule) (*Proxy, error) {
	up, err := resolve(upstreamDSN)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("pgfault: listen: %w", err)
	}
	p := &Proxy{
		listener: listener,
		upstream: up,
		dsn:      up.dsnVia(listener.Addr()),
		rules:    newRuleSet(rules),
		after:    time.After,
		sessions: map[int]*session{},
	}
	p.ctx, p.stop = context.WithCancel(ctx)
	context.AfterFunc(p.ctx, func() { _ = listener.Close() })
	p.wg.Go(p.accept)
	return p, nil
}

// DSN returns the upstream's user, password, database and settings with the proxy's address, as a postgres:// URL.
func (p *Proxy) DSN() string { return p.dsn }

// SetRules replaces all rules. The new rules apply to statements for which the proxy has not chosen an action yet. Prepared statements keep the text
// from the old RewriteSQL.
func (p *Proxy) SetRules(rules ...Rule) { p.rules.set(rules) }

// Injected returns the number of injections of each fault, by name. The name is the name of the fault's constructor. For SQLState and ConnectRefused
// the argument follows, as in "SQLState 53200". It does not count a fault for a statement after the point at which its pipeline failed.
func (p *Proxy) Injected() map[string]int {
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	return maps.Clone(p.rules.injected)
}

// AwaitInjected waits until a fault has been injected n times, as counted by Injected.
func (p *Proxy) AwaitInjected(ctx context.Context, name string, n int) error {
	if err := p.rules.awaitCount(ctx, name, n); err != nil {
		return fmt.Errorf("pgfault: waiting for %s: %w", name, err)
	}
	return nil
}

// Partition stops all traffic, including new connections, and keeps every socket open.
func (p *Proxy) Partition() { p.link.cut() }

// Heal ends a partition. All delayed bytes arrive, even from clients that have given up.
func (p *Proxy) Heal() { p.link.heal() }

// Sever cuts every current connection on both sides. New connections work. The server completes the requests that it has received (see AwaitEnd) and
// rolls back open transactions.
func (p *Proxy) Sever() {
	for _, s := range p.live() {
		_ = s.client.Close() // it may be closing already
	}
}

// Close cuts every connection and waits for all goroutines. It may be called more than once.
func (p *Proxy) Close() {
	p.stop()
	p.wg.Wait()
}

// AwaitEnd waits until the server has ended its side of a connection (Event.Conn). All received requests have then run, the open transaction is
// rolled back, and its locks are free.
func (p *Proxy) AwaitEnd(ctx context.Context, conn int) error {
	return p.await(ctx, conn, func(s *session) <-chan struct{} { return s.ended })
}

// AwaitCancel waits until the server has received a cancel request for a connection, or the connection has ended.
func (p *Proxy) AwaitCancel(ctx context.Context, conn int) error {
	return p.await(ctx, conn, func(s *session) <-chan struct{} { return s.cancelled })
}

// AwaitIdle waits until no connection is left, for example after the end of a pool. The database's state is final then.
func (p *Proxy) AwaitIdle(ctx context.Context) error {
	for {
		live := p.live()
		if len(live) == 0 {
			return nil
		}
		if err := p.AwaitEnd(ctx, live[0].conn); err != nil {
			return err
		}
	}
}

func (p *Proxy) await(ctx context.Context, conn int, what func(*session) <-chan struct{}) error {
	p.mu.Lock()
	s, last := p.sessions[conn], p.conns
	p.mu.Unlock()
	switch {
	case conn < 1 || conn > last:
		return fmt.Errorf("pgfault: there was no connection %d", conn)
	case s == nil:
		return nil
	}
	select {
	case <-what(s):
		return nil
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pgfault: waiting for connection %d: %w", conn, ctx.Err())
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil { // closed or unusable
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// track closes a connection when the proxy stops. The returned function closes it at once.
func (p *Proxy) track(conn net.Conn) (done func()) {
	forget := context.AfterFunc(p.ctx, func() { _ = conn.Close() })
	return func() {
		forget()
		_ = conn.Close() // it may have been closed from either side
	}
}

// pause waits for a duration. It returns false if the proxy closes.
func (p *Proxy) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-p.after(d):
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *Proxy) open(client net.Conn, be *pgproto3.Backend) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns++
	s := &session{
		p: p, conn: p.conns, client: client, be: be,
		cancelled: make(chan struct{}), ended: make(chan struct{}),
	}
	s.pending.status = 'I'
	s.statements, s.portals = map[string]*statement{}, map[string]*portal{}
	p.sessions[s.conn] = s
	return s
}

func (p *Proxy) end(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s.conn)
	close(s.ended)
}

func (p *Proxy) live() []*session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.sessions))
}
