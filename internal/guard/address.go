package guard

import (
	"container/list"
	"net"
	"net/netip"
)

// addressConns has the connections from one address. An IPv6 /64 counts as one address, because an IPv6 address's owner usually has the whole /64.
type addressConns struct {
	address netip.Prefix
	open    int
	waiting *list.List // of *client without a request, longest wait first
	index   int        // index in Clients.waiting, while a connection waits
}

const sharedIPv6 = 64

// connsOf returns an address's connections. It creates the entry if there is none.
func (c *Clients) connsOf(remote net.Addr) *addressConns {
	address := addressOf(remote)
	found, ok := c.byAddress[address]
	if !ok {
		found = &addressConns{address: address, waiting: list.New()}
		c.byAddress[address] = found
	}
	return found
}

// addressOf returns a connection's client address. All connections without an IP address, such as unix sockets, count as one address.
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

// addressHeap is a heap with the addresses that have waiting connections. The address with the most waiting connections is first.
type addressHeap []*addressConns

// Len implements sort.Interface, which heap.Interface includes.
func (h addressHeap) Len() int { return len(h) }

// Less puts the address with more waiting connections first.
func (h addressHeap) Less(i, j int) bool { return h[i].waiting.Len() > h[j].waiting.Len() }

// Swap swaps two addresses and updates their indexes.
func (h addressHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push appends an address.
func (h *addressHeap) Push(x any) {
	if one, ok := x.(*addressConns); ok {
		one.index = len(*h)
		*h = append(*h, one)
	}
}

// Pop removes the last address.
func (h *addressHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
