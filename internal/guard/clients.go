package guard

import (
	"container/heap"
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Clients bounds the connections of a server. When there is one too many, the one is closed that has waited longest without a request,
// of the address that has most of them waiting: whoever opens connections to keep others out loses their own. Only when all are at work is
// the new one closed.
//
// A listener that merely stops accepting at its bound, as netutil.LimitListener does, would be held shut by whoever fills it with idle connections.
type Clients struct {
	most   int
	refuse func(Load) // told of each connection that was closed for want of room

	mu      sync.Mutex
	load    Load
	waiting crowds
	crowds  map[netip.Prefix]*crowd
}

// Load is how many connections there are, and what became of those for which there was no room.
type Load struct {
	Open    int
	Most    int
	Evicted int64 // were waiting when there was one too many
	Refused int64 // were one too many when all were at work
}

// NewClients makes a bound. refuse is told, from the goroutine that accepts, of each connection that was closed for want of room.
func NewClients(most int, refuse func(Load)) *Clients {
	return &Clients{most: most, refuse: refuse, load: Load{Most: most}, crowds: map[netip.Prefix]*crowd{}}
}

// Load says what is going on now.
func (c *Clients) Load() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load
}

// Listener is l with the bound. The server that accepts from it must have State as its ConnState.
func (c *Clients) Listener(l net.Listener) net.Listener { return &listener{Listener: l, clients: c} }

// PlainListener is Listener for HTTP without TLS, of whose requests the heads are looked at (heads). Under TLS they cannot be: the server must have the
// TLS connection itself.
func (c *Clients) PlainListener(l net.Listener) net.Listener {
	return &listener{Listener: l, clients: c, plain: true}
}

// State is http.Server.ConnState: it learns which connections work on a request.
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
	case http.StateNew, http.StateClosed: // noted when it is accepted, and when it is closed
	}
}

// own is the connection as admit made it; nil when it did not.
func own(conn net.Conn) *client {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	mine, _ := conn.(*client)
	return mine
}

// sendBuffer is what the system keeps of answers that a client does not read. Left to itself it keeps up to 4 MB for each connection on Linux, of its
// own memory, which no bound of this process counts. At a distance of 100 ms this still lets a client read more than a megabyte a second.
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
			conn = &heads{Conn: conn}
		}
		if admitted := l.clients.admit(conn); admitted != nil {
			return admitted, nil
		}
		_ = conn.Close()
	}
}

// client is one connection. Its fields are Clients' to touch, under its lock.
type client struct {
	net.Conn
	clients *Clients
	from    *crowd
	place   *list.Element // among those of its crowd that wait; nil: it is at work, or gone
	gone    bool
}

// Close implements net.Conn.
func (k *client) Close() error {
	k.clients.leave(k)
	return k.Conn.Close()
}

// admit finds room for a connection, or answers nil.
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
		admitted = &client{Conn: conn, clients: c, from: c.crowd(conn.RemoteAddr())}
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

// remove forgets a connection.
func (c *Clients) remove(k *client) {
	if k.gone {
		return
	}
	c.unqueue(k)
	k.gone = true
	c.load.Open--
	if k.from.open--; k.from.open == 0 {
		delete(c.crowds, k.from.address)
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

// longest is the connection to close when there is one too many, or nil.
func (c *Clients) longest() *client {
	if len(c.waiting) == 0 {
		return nil
	}
	k, _ := c.waiting[0].waiting.Front().Value.(*client)
	return k
}
