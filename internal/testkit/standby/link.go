package standby

import (
	"context"
	"net"
	"path/filepath"
	"sync"
)

// link forwards bytes between the primary and the standby, except during a stall.
type link struct {
	listener net.Listener
	stop     context.CancelFunc
	stopped  <-chan struct{}
	wg       sync.WaitGroup

	mu      sync.Mutex
	socket  string        // path of the primary's socket
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
	k.setPrimary(primaryDSN)
	k.wg.Go(func() { k.accept(life) })
	return k, nil
}

func (k *link) address() string { return k.listener.Addr().String() }

func (k *link) setPrimary(primaryDSN string) {
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
	default: // already stalled
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

// pass waits for the end of a stall. It returns false if the link is closed.
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

// serve forwards one connection in both directions until either side or the link is closed.
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
		return // the standby sees a primary that is down
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
		if n > 0 && k.pass() { // during a stall, the bytes that were read wait here
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
