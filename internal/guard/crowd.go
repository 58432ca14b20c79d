package guard

import (
	"container/list"
	"net"
	"net/netip"
)

// crowd groups the connections from one address, or from one IPv6 /64, because the owner of one address usually has its whole /64.
type crowd struct {
	address netip.Prefix
	open    int
	waiting *list.List // of *client, longest wait first
	index   int        // index in crowds, while a connection waits
}

const sharedIPv6 = 64

// crowd returns the crowd of an address.
func (c *Clients) crowd(remote net.Addr) *crowd {
	address := addressOf(remote)
	found, ok := c.crowds[address]
	if !ok {
		found = &crowd{address: address, waiting: list.New()}
		c.crowds[address] = found
	}
	return found
}

// addressOf returns a connection's client address. All connections without an IP address, such as unix sockets, share one.
func addressOf(remote net.Addr) netip.Prefix {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	a := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = sharedIPv6
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// crowds is a heap of the crowds with waiting connections, the largest first.
type crowds []*crowd

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h crowds) Len() int { return len(h) }

// Less orders by the number of waiting connections, the larger first.
func (h crowds) Less(i, j int) bool { return h[i].waiting.Len() > h[j].waiting.Len() }

// Swap updates the indexes too.
func (h crowds) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push appends a crowd.
func (h *crowds) Push(x any) {
	if one, ok := x.(*crowd); ok {
		one.index = len(*h)
		*h = append(*h, one)
	}
}

// Pop removes the last crowd.
func (h *crowds) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
