package webhook

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// Networks are the private networks to which the operator allows deliveries, in addition to the public Internet. Write an IPv4 network as IPv4,
// because an IPv4-mapped IPv6 network matches no address.
type Networks []netip.Prefix

func (n Networks) contain(address netip.Addr) bool {
	return slices.ContainsFunc(n, func(network netip.Prefix) bool { return network.Contains(address) })
}

var errRefused = errors.New("webhooks may not be delivered to this address")

// guard decides which addresses the client may connect to. An address is public unless IANA's registries reserve it for a special purpose.
type guard struct {
	allowed Networks
	public  *ssrf.Guardian // nil: only the allowed networks
}

// guardPlain returns the guard for connections without TLS.
func guardPlain(allowed Networks) guard { return guard{allowed: allowed} }

// guardTLS returns the guard for connections with TLS. It allows public addresses, because the certificate proves the receiver's name.
func guardTLS(allowed Networks) guard {
	return guard{allowed: allowed, public: ssrf.New(ssrf.WithAnyPort())}
}

// check returns an error if the client may not connect to an address. It refuses every address with a zone, because such an address is valid only on
// one link.
func (g guard) check(address netip.Addr) error {
	address = address.Unmap()
	if g.allowed.contain(address) || g.public != nil && g.public.SafeAddr(address) == nil && !platforms.contain(address) {
		return nil
	}
	return errRefused
}

// control implements net.Dialer.Control. The dialer calls it with the resolved address before it connects.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errRefused
	}
	return g.check(to.Addr())
}
