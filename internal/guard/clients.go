package guard

import (
	"container/heap"
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Clients limits a server's connections. If a new connection exceeds the limit, Clients closes a connection that waits for a request. It chooses the
// address with the most waiting connections, and closes the one that has waited longest. So a client that opens many connections to block other
// clients loses its own connections. If all connections have a request, Clients closes the new one.
//
// A listener that stops accepting at its limit, such as netutil.LimitListener, would be blocked by idle connections.
type Clients struct {
	limit   int
	atLimit func(Load) // called for each connection that was closed at the limit

	mu        sync.Mutex
	load      Load
	waiting   addressHeap
	byAddress map[netip.Prefix]*addressConns
}

// Load counts the open connections, and the connections that were closed at the limit.
type Load struct {
	Open    int
	Limit   int
	Evicted int64 // waiting connections that were closed for a new one
	Refused int64 // new connections that were closed because all others had a request
}

// NewClients returns a Clients with a limit. For each connection that it closes at the limit, Clients calls the function atLimit, from the goroutine
// that accepts.
func NewClients(limit int, atLimit func(Load)) *Clients {
	return &Clients{limit: limit, atLimit: atLimit, load: Load{Limit: limit}, byAddress: map[netip.Prefix]*addressConns{}}
}

// Load returns the current state.
func (c *Clients) Load() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load
}

// Listener applies the limit to l. The HTTP server that uses the listener must have State as its ConnState.
func (c *Clients) Listener(l net.Listener) net.Listener { return &listener{Listener: l, clients: c} }

// PlainListener does the same as Listener for HTTP without TLS. It also checks request heads (requestHeads). Under TLS it cannot check them, because
// the server needs the TLS connection itself.
func (c *Clients) PlainListener(l net.Listener) net.Listener {
	return &listener{Listener: l, clients: c, plain: true}
}

// State implements http.Server.ConnState. It records which connections have a request.
func (c *Clients) State(conn net.Conn, state http.ConnState) {
	mine := clientOf(conn)
	if mine == nil {
		return
	}
	switch state {
	case http.StateIdle:
		c.wait(mine)
	case http.StateActive, http.StateHijacked:
		c.work(mine)
	case http.StateNew, http.StateClosed: // admit and Close record these
	}
}

// clientOf returns the client that admit has made for a connection, or nil.
func clientOf(conn net.Conn) *client {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	mine, _ := conn.(*client)
	return mine
}

// sendBuffer is the size in bytes of the kernel's buffer for data that a client has not received yet. By default, Linux uses up to 4 MB for each
// connection, and no limit of this process counts them. If a round trip takes 100 ms, sendBuffer still allows more than a megabyte a second.
const sendBuffer = 128 << 10

type listener struct {
	net.Listener
	clients *Clients
	plain   bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer)
		}
		if l.plain {
			conn = &requestHeads{Conn: conn}
		}
		if admitted := l.clients.admit(conn); admitted != nil {
			return admitted, nil
		}
		_ = conn.Close()
	}
}

// client is one connection. The methods of Clients hold Clients.mu while they use the last three fields.
type client struct {
	net.Conn
	clients *Clients
	peers   *addressConns
	element *list.Element // its element in peers.waiting; nil: the client has a request or is closed
	removed bool
}

// Close implements net.Conn.
func (k *client) Close() error {
	k.clients.leave(k)
	return k.Conn.Close()
}

// admit counts a new connection and returns it. It returns nil if the connection must be refused.
func (c *Clients) admit(conn net.Conn) net.Conn {
	c.mu.Lock()
	var victim *client
	full := c.load.Open >= c.limit
	if full {
		if victim = c.oldestWaiting(); victim != nil {
			c.remove(victim)
			c.load.Evicted++
		} else {
			c.load.Refused++
		}
	}
	var admitted *client
	if !full || victim != nil {
		admitted = &client{Conn: conn, clients: c, peers: c.connsOf(conn.RemoteAddr())}
		admitted.peers.open++
		c.load.Open++
		c.queue(admitted)
	}
	load := c.load
	c.mu.Unlock()
	if full {
		c.atLimit(load)
	}
	if victim != nil {
		_ = victim.Conn.Close()
	}
	if admitted == nil {
		return nil
	}
	return admitted
}

func (c *Clients) leave(k *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(k)
}

func (c *Clients) wait(k *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !k.removed && k.element == nil {
		c.queue(k)
	}
}

func (c *Clients) work(k *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unqueue(k)
}

// remove removes a connection from all counts.
func (c *Clients) remove(k *client) {
	if k.removed {
		return
	}
	c.unqueue(k)
	k.removed = true
	c.load.Open--
	if k.peers.open--; k.peers.open == 0 {
		delete(c.byAddress, k.peers.address)
	}
}

func (c *Clients) queue(k *client) {
	k.element = k.peers.waiting.PushBack(k)
	if k.peers.waiting.Len() == 1 {
		heap.Push(&c.waiting, k.peers)
	} else {
		heap.Fix(&c.waiting, k.peers.index)
	}
}

func (c *Clients) unqueue(k *client) {
	if k.element == nil {
		return
	}
	k.peers.waiting.Remove(k.element)
	k.element = nil
	if k.peers.waiting.Len() == 0 {
		heap.Remove(&c.waiting, k.peers.index)
	} else {
		heap.Fix(&c.waiting, k.peers.index)
	}
}

// oldestWaiting returns the connection to close for a new one. It returns nil if no connection waits.
func (c *Clients) oldestWaiting() *client {
	if len(c.waiting) == 0 {
		return nil
	}
	k, _ := c.waiting[0].waiting.Front().Value.(*client)
	return k
}
