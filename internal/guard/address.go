package guard

import (
	"container/list"
	"net"
	"net/netip"
)

// addressConns groups the connections from one address, or from one IPv6 /64, because the owner of one address usually has its whole /64.
type addressConns struct {
	address netip.Prefix
	open    int
	waiting *list.List // of *client, longest wait first
	index   int        // index in crowds, while a connection waits
}

const sharedIPv6 = 64

// connsOf returns the crowd of an address.
func (c *Clients) connsOf(remote net.Addr) *addressConns {
	address := addressOf(remote)
	found, ok := c.byWaiting[address]
	if !ok {
		found = &addressConns{address: address, waiting: list.New()}
		c.byWaiting[address] = found
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

// addressHeap is a heap of the crowds with waiting connections, the largest first.
type addressHeap []*addressConns

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h addressHeap) Len() int { return len(h) }

// Less orders by the number of waiting connections, the larger first.
func (h addressHeap) Less(i, j int) bool { return h[i].waiting.Len() > h[j].waiting.Len() }

// Swap updates the indexes too.
func (h addressHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push appends a crowd.
func (h *addressHeap) Push(x any) {
	if one, ok := x.(*addressConns); ok {
		one.index = len(*h)
		*h = append(*h, one)
	}
}

// Pop removes the last crowd.
func (h *addressHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
