package webhook

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// names is a resolver with a name server on loopback. A name has a list of addresses, and each look-up returns the next address. At the end of the
// list, every look-up returns the last address.
type names struct {
	*net.Resolver

	mu    sync.Mutex
	known map[string][]netip.Addr
}

func newNames(t *testing.T, known map[string][]netip.Addr) *names {
	t.Helper()
	server, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &names{known: known}
	n.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	var serving sync.WaitGroup
	serving.Go(func() {
		question := make([]byte, 512)
		for {
			size, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			if answer := n.answer(question[:size]); answer != nil {
				_, _ = server.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	return n
}

// answer returns the response to a DNS query. For a known name, it contains an address of the requested family, if there is one. For other names, it
// is an error.
func (n *names) answer(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	asked := m.Questions[0]
	m.Response, m.Additionals, m.RCode = true, nil, dnsmessage.RCodeNameError
	if address, known := n.of(asked.Name.String(), asked.Type); known {
		m.RCode = dnsmessage.RCodeSuccess
		header := dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: asked.Class}
		switch {
		case asked.Type == dnsmessage.TypeA && address.Is4():
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: address.As4()}}}
		case asked.Type == dnsmessage.TypeAAAA && address.Is6():
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}}
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return packed
}

func (n *names) of(name string, asked dnsmessage.Type) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	addresses := n.known[name]
	if len(addresses) == 0 {
		return netip.Addr{}, false
	}
	if len(addresses) > 1 && addresses[0].Is4() == (asked == dnsmessage.TypeA) {
		n.known[name] = addresses[1:]
	}
	return addresses[0], true
}
