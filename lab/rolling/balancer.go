package rolling

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// balancer passes connections, in turn, to the servers that were ready at the last probe. It does not inspect or repeat requests, so the client sees
// each failure.
type balancer struct {
	listener net.Listener
	every    time.Duration
	asking   *http.Client
	open     atomic.Int64 // open connections
	made     atomic.Int64
	refused  atomic.Int64 // connections that found no ready server

	mu      sync.Mutex
	servers []string
	ready   []string
	next    int
	changed chan struct{} // closed and replaced when ready or open changes
}

func newBalancer(ctx context.Context, every time.Duration) (*balancer, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &balancer{
		listener: l, every: every, changed: make(chan struct{}),
		asking: &http.Client{Timeout: every, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	go b.accept(ctx)
	go b.probe(ctx)
	return b, nil
}

func (b *balancer) addr() string { return b.listener.Addr().String() }

func (b *balancer) close() { _ = b.listener.Close() }

// add adds a server. Connections go to the server as soon as a probe finds it ready.
func (b *balancer) add(server string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, server)
}

// remove removes a server, as when its pod is gone. The server's connections stay open.
func (b *balancer) remove(server string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is := func(s string) bool { return s == server }
	b.servers = slices.DeleteFunc(b.servers, is)
	b.ready = slices.DeleteFunc(b.ready, is)
}

// probe repeatedly asks all servers whether they are ready.
func (b *balancer) probe(ctx context.Context) {
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for {
		b.mu.Lock()
		all := slices.Clone(b.servers)
		b.mu.Unlock()
		var ready []string
		for _, s := range all {
			if b.isReady(ctx, s) {
				ready = append(ready, s)
			}
		}
		b.mu.Lock()
		b.ready = slices.DeleteFunc(ready, func(s string) bool { return !slices.Contains(b.servers, s) })
		b.tell()
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (b *balancer) isReady(ctx context.Context, server string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	w, err := b.asking.Do(r)
	if err != nil {
		return false
	}
	return errors.Join(w.Body.Close()) == nil && w.StatusCode == http.StatusOK
}

// tell wakes the goroutines that wait for a change. The caller must hold mu.
func (b *balancer) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// await waits for a condition.
func (b *balancer) await(ctx context.Context, is func() bool) error {
	for {
		b.mu.Lock()
		now, changed := is(), b.changed
		b.mu.Unlock()
		if now {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// awaitReady waits until new connections can go to a server.
func (b *balancer) awaitReady(ctx context.Context, server string) error {
	return b.await(ctx, func() bool { return slices.Contains(b.ready, server) })
}

// awaitConnections waits until n connections are open. Then the load has begun.
func (b *balancer) awaitConnections(ctx context.Context, n int) error {
	return b.await(ctx, func() bool { return b.open.Load() >= int64(n) })
}

func (b *balancer) accept(ctx context.Context) {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.pass(ctx, c)
	}
}

// pass connects a client with the next ready server. It returns when both sides have closed.
func (b *balancer) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	b.made.Add(1)
	b.mu.Lock()
	if len(b.ready) == 0 {
		b.mu.Unlock()
		b.refused.Add(1)
		return
	}
	b.next++
	to := b.ready[b.next%len(b.ready)]
	b.mu.Unlock()
	server, err := (&net.Dialer{Timeout: b.every}).DialContext(ctx, "tcp", to)
	if err != nil {
		b.refused.Add(1)
		return
	}
	defer server.Close()
	b.open.Add(1)
	defer b.open.Add(-1)
	ended := make(chan struct{}, 2)
	for from, onto := range map[net.Conn]net.Conn{client: server, server: client} {
		go func() {
			_, _ = io.Copy(onto, from)
			if half, ok := onto.(*net.TCPConn); ok {
				_ = half.CloseWrite() // the other direction stays open
			}
			ended <- struct{}{}
		}()
	}
	<-ended
	<-ended
}
