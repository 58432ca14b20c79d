package webhook

import (
	"errors"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// Networks are private networks that the operator allows deliveries to, beside the public Internet. A network of IPv4 is written as such: one that is
// mapped into IPv6 takes no address.
type Networks []netip.Prefix

var errRefused = errors.New("deliveries do not go to this address")

// guard decides which addresses are connected to. What is public is what the registries of IANA do not keep for something special.
type guard struct {
	allowed Networks
	public  *ssrf.Guardian // nil: only the allowed networks
}

// guardPlain is for connections that everybody on the way can read.
func guardPlain(allowed Networks) guard { return guard{allowed: allowed} }

// guardTLS is for connections of which a certificate says whose they are.
func guardTLS(allowed Networks) guard {
	return guard{allowed: allowed, public: ssrf.New(ssrf.WithAnyPort())}
}

// check refuses every address with a zone: such a one is good on one link alone.
func (g guard) check(address netip.Addr) error {
	address = address.Unmap()
	for _, network := range g.allowed {
		if network.Contains(address) {
			return nil
		}
	}
	if g.public == nil || g.public.SafeAddr(address) != nil || ofPlatform(address) {
		return errRefused
	}
	return nil
}

// control is a net.Dialer's, which calls it with the address that was resolved, before it connects.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errRefused
	}
	return g.check(to.Addr())
}
