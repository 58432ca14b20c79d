package guard

import (
	"container/list"
	"net"
	"net/netip"
)

// crowd is the connections of one address. For IPv6 that is a /64, of which whoever has one address has all.
type crowd struct {
	address netip.Prefix
	open    int
	waiting *list.List // of *client, who has waited longest first
	index   int        // in crowds, while somebody waits
}

const sharedIPv6 = 64

// crowd is that of an address.
func (c *Clients) crowd(remote net.Addr) *crowd {
	address := addressOf(remote)
	found, ok := c.crowds[address]
	if !ok {
		found = &crowd{address: address, waiting: list.New()}
		c.crowds[address] = found
	}
	return found
}

// addressOf is whose a connection is. Those without an IP address, as of a unix socket, are all of the same.
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

// crowds is a heap of those of which somebody waits, the largest first.
type crowds []*crowd

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h crowds) Len() int { return len(h) }

// Less puts the larger first.
func (h crowds) Less(i, j int) bool { return h[i].waiting.Len() > h[j].waiting.Len() }

// Swap keeps their indexes.
func (h crowds) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push adds one at the end.
func (h *crowds) Push(x any) {
	if one, ok := x.(*crowd); ok {
		one.index = len(*h)
		*h = append(*h, one)
	}
}

// Pop takes the last.
func (h *crowds) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
