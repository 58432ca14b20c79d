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

// Proxy listens on loopback and relays to one server, under rules. Its methods may be called from any goroutine.
type Proxy struct {
	ctx      context.Context
	stop     context.CancelFunc
	listener net.Listener
	upstream upstream
	dsn      string
	rules    *ruleSet
	link     link
	wg       sync.WaitGroup
	after    func(time.Duration) <-chan time.Time // time.After, except in the test of Latency

	mu       sync.Mutex
	sessions map[int]*session // live ones, by number
	conns    int              // sessions so far
}

// Start listens on a free port of 127.0.0.1 and relays to the server of upstreamDSN, which may name a unix socket. The
// proxy lives until Close is called or ctx is done. The server is not dialled before the first client connects.
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

// DSN is the upstream's user, password, database and settings at the proxy's address, as a postgres:// URL.
func (p *Proxy) DSN() string { return p.dsn }

// SetRules replaces all rules, for statements that have not been decided yet. Statements prepared before keep the text
// that RewriteSQL gave them.
func (p *Proxy) SetRules(rules ...Rule) { p.rules.set(rules) }

// Injected says how often each fault has happened, by name: that of its constructor, with its argument for SQLState
// ("SQLState 53200") and ConnectRefused. A fault in a pipeline that failed before reaching it is not counted.
func (p *Proxy) Injected() map[string]int {
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	return maps.Clone(p.rules.injected)
}

// AwaitInjected returns when a fault has happened n times, counted as by Injected.
func (p *Proxy) AwaitInjected(ctx context.Context, name string, n int) error {
	if err := p.rules.awaitCount(ctx, name, n); err != nil {
		return fmt.Errorf("pgfault: waiting for %s: %w", name, err)
	}
	return nil
}

// Partition stops all traffic, new connections included, and keeps every socket open.
func (p *Proxy) Partition() { p.link.cut() }

// Heal ends a partition. Everything that was on its way arrives, also from clients that have given up meanwhile.
func (p *Proxy) Heal() { p.link.heal() }

// Sever cuts every connection that there is, on both sides; new ones are served. What the server had been sent it does,
// as AwaitEnd shows; open transactions it rolls back.
func (p *Proxy) Sever() {
	for _, s := range p.live() {
		_ = s.client.Close() // it may be closing already
	}
}

// Close cuts every connection and returns when nothing of the proxy is left. It may be called more than once.
func (p *Proxy) Close() {
	p.stop()
	p.wg.Wait()
}

// AwaitEnd returns when the server has ended its side of a connection (Event.Conn): all that was sent has run, the
// rest is rolled back, and its locks are free.
func (p *Proxy) AwaitEnd(ctx context.Context, conn int) error {
	return p.await(ctx, conn, func(s *session) <-chan struct{} { return s.ended })
}

// AwaitCancel returns when a cancel request for a connection has been delivered to the server, or the connection has
// ended.
func (p *Proxy) AwaitCancel(ctx context.Context, conn int) error {
	return p.await(ctx, conn, func(s *session) <-chan struct{} { return s.cancelled })
}

// AwaitIdle returns when no connection is left, as after closing a pool; then what the database shows is final.
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
		if err != nil { // closed, or of no more use
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// track closes a connection when the proxy stops; the function it returns closes it at once.
func (p *Proxy) track(conn net.Conn) (done func()) {
	forget := context.AfterFunc(p.ctx, func() { _ = conn.Close() })
	return func() {
		forget()
		_ = conn.Close() // it may have been closed from either side
	}
}

// pause waits for a duration; false means that the proxy is closing.
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
