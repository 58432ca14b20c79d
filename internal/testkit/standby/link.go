package standby

import (
	"context"
	"net"
	"path/filepath"
	"sync"
)

// link carries the primary's log to the standby, until it is stalled.
type link struct {
	listener net.Listener
	stop     context.CancelFunc
	stopped  <-chan struct{}
	wg       sync.WaitGroup

	mu      sync.Mutex
	socket  string        // of the primary
	flowing chan struct{} // closed while bytes may pass
}

func newLink(ctx context.Context, primaryDSN string) (*link, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	k := &link{listener: l, stop: stop, stopped: life.Done(), flowing: make(chan struct{})}
	close(k.flowing)
	k.to(primaryDSN)
	k.wg.Go(func() { k.accept(life) })
	return k, nil
}

func (k *link) address() string { return k.listener.Addr().String() }

func (k *link) to(primaryDSN string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.socket = filepath.Join(socketDir(primaryDSN), ".s.PGSQL.5432")
}

func (k *link) stall() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.flowing:
		k.flowing = make(chan struct{})
	default: // it is stalled
	}
}

func (k *link) resume() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.flowing:
	default:
		close(k.flowing)
	}
}

// pass waits until bytes may pass; false when the link is closed.
func (k *link) pass() bool {
	k.mu.Lock()
	flowing := k.flowing
	k.mu.Unlock()
	select {
	case <-flowing:
		return true
	case <-k.stopped:
		return false
	}
}

func (k *link) close() {
	k.stop()
	_ = k.listener.Close()
	k.wg.Wait()
}

func (k *link) accept(ctx context.Context) {
	for {
		standby, err := k.listener.Accept()
		if err != nil {
			return
		}
		k.wg.Go(func() { k.serve(ctx, standby) })
	}
}

// serve carries one connection in both directions, until either side closes it or the link is closed.
func (k *link) serve(ctx context.Context, standby net.Conn) {
	defer standby.Close()
	if !k.pass() {
		return
	}
	k.mu.Lock()
	socket := k.socket
	k.mu.Unlock()
	primary, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return // as a primary that is down
	}
	defer primary.Close()
	defer context.AfterFunc(ctx, func() { _ = standby.Close(); _ = primary.Close() })()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{standby, primary}, {primary, standby}} {
		both.Go(func() {
			k.carry(way[0], way[1])
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}

func (k *link) carry(from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && k.pass() { // what was read is on its way while the link is stalled
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
