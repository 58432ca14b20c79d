package guard

import (
	"container/heap"
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Clients limits a server's connections. When a new connection exceeds the limit, Clients closes one without a request: the one that has waited
// longest at the address with the most waiting connections. So a client that opens connections to block others loses its own. Only if all connections
// have a request does it close the new one.
//
// A listener that stops accepting at its limit, such as netutil.LimitListener, could be blocked by idle connections.
type Clients struct {
	most   int
	refuse func(Load) // called for each connection that was closed for lack of room

	mu        sync.Mutex
	load      Load
	waiting   addressHeap
	byWaiting map[netip.Prefix]*addressConns
}

// Load counts the connections, and the connections that were closed for lack of room.
type Load struct {
	Open    int
	Most    int
	Evicted int64 // waiting connections that were closed for a new one
	Refused int64 // new connections that were closed because all others had a request
}

// NewClients returns a limit. It calls refuse, from the goroutine that accepts, for each connection that it closes for lack of room.
func NewClients(most int, refuse func(Load)) *Clients {
	return &Clients{most: most, refuse: refuse, load: Load{Most: most}, byWaiting: map[netip.Prefix]*addressConns{}}
}

// Load returns the current state.
func (c *Clients) Load() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load
}

// Listener applies the limit to l. The server that accepts from it must have State as its ConnState.
func (c *Clients) Listener(l net.Listener) net.Listener { return &listener{Listener: l, clients: c} }

// PlainListener is Listener for HTTP without TLS; it also checks the heads of requests (heads). Under TLS it cannot, because the server needs the TLS
// connection itself.
func (c *Clients) PlainListener(l net.Listener) net.Listener {
	return &listener{Listener: l, clients: c, plain: true}
}

// State implements http.Server.ConnState: it tracks the connections with a request.
func (c *Clients) State(conn net.Conn, state http.ConnState) {
	mine := own(conn)
	if mine == nil {
		return
	}
	switch state {
	case http.StateIdle:
		c.wait(mine)
	case http.StateActive, http.StateHijacked:
		c.work(mine)
	case http.StateNew, http.StateClosed: // admit and Close track these
	}
}

// own returns the connection that admit made, or nil if admit did not make it.
func own(conn net.Conn) *client {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	mine, _ := conn.(*client)
	return mine
}

// sendBuffer is the size of the system's buffer for responses that a client has not read. By default Linux keeps up to 4 MB of kernel memory for each
// connection, which no limit of this process counts. With a round trip of 100 ms this size still lets a client read more than a megabyte a second.
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

// client is one connection. Only Clients accesses its fields, under its lock.
type client struct {
	net.Conn
	clients *Clients
	from    *addressConns
	place   *list.Element // its element in the crowd's waiting list; nil: it has a request, or is gone
	gone    bool
}

// Close implements net.Conn.
func (k *client) Close() error {
	k.clients.leave(k)
	return k.Conn.Close()
}

// admit admits a connection, or returns nil if there is no room.
func (c *Clients) admit(conn net.Conn) net.Conn {
	c.mu.Lock()
	var victim *client
	full := c.load.Open >= c.most
	if full {
		if victim = c.longest(); victim != nil {
			c.remove(victim)
			c.load.Evicted++
		} else {
			c.load.Refused++
		}
	}
	var admitted *client
	if !full || victim != nil {
		admitted = &client{Conn: conn, clients: c, from: c.connsOf(conn.RemoteAddr())}
		admitted.from.open++
		c.load.Open++
		c.queue(admitted)
	}
	load := c.load
	c.mu.Unlock()
	if full {
		c.refuse(load)
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
	if !k.gone && k.place == nil {
		c.queue(k)
	}
}

func (c *Clients) work(k *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unqueue(k)
}

// remove removes a connection from the counts.
func (c *Clients) remove(k *client) {
	if k.gone {
		return
	}
	c.unqueue(k)
	k.gone = true
	c.load.Open--
	if k.from.open--; k.from.open == 0 {
		delete(c.byWaiting, k.from.address)
	}
}

func (c *Clients) queue(k *client) {
	k.place = k.from.waiting.PushBack(k)
	if k.from.waiting.Len() == 1 {
		heap.Push(&c.waiting, k.from)
	} else {
		heap.Fix(&c.waiting, k.from.index)
	}
}

func (c *Clients) unqueue(k *client) {
	if k.place == nil {
		return
	}
	k.from.waiting.Remove(k.place)
	k.place = nil
	if k.from.waiting.Len() == 0 {
		heap.Remove(&c.waiting, k.from.index)
	} else {
		heap.Fix(&c.waiting, k.from.index)
	}
}

// longest returns the connection to close for a new one, or nil.
func (c *Clients) longest() *client {
	if len(c.waiting) == 0 {
		return nil
	}
	k, _ := c.waiting[0].waiting.Front().Value.(*client)
	return k
}
