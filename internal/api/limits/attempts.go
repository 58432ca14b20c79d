package limits

import (
	"net/http"
	"net/netip"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
)

// Attempts is what the client's address of one request may still try. A look-up that the request began may ask it after the
// request has ended, so it is locked.
type Attempts struct {
	limiter *ratelimit.Limiter // nil: everything
	address string

	mu      sync.Mutex
	release func() // gives back what Reserve has set aside; nil: nothing
	ended   bool
}

// AttemptsFrom is what may be tried from a client's address.
func (l Limits) AttemptsFrom(address string) Attempts {
	return Attempts{limiter: l.Anonymous, address: network(address)}
}

// Check implements tenancy.Attempts.
func (t *Attempts) Check() error {
	if t.limiter == nil {
		return nil
	}
	return Allow(t.limiter.Check(t.address))
}

// Reserve implements tenancy.Attempts.
func (t *Attempts) Reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limiter == nil || t.release != nil || t.ended {
		return nil
	}
	release, d := t.limiter.Hold(t.address)
	if d.Allowed {
		t.release = release
	}
	return Allow(d)
}

// End gives back what was set aside.
func (t *Attempts) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.release != nil {
		t.release()
	}
	t.release, t.ended = nil, true
}

// Failed counts an authentication that ended with err, and answers what the client is told. What is not the client's fault is not
// counted.
func (t *Attempts) Failed(h http.Header, err error) error {
	t.End()
	if t.limiter == nil {
		return err
	}
	if ipam.IsCode(err, ipam.CodeUnauthenticated) {
		if refused := Allow(t.limiter.Take(t.address)); refused != nil {
			err = refused
		}
	}
	if ipam.IsCode(err, ipam.CodeRateLimited) {
		Describe(h, t.limiter.Check(t.address))
	}
	return err
}

// network is what is limited as one client: an IPv4 address, or the /64 that an IPv6 host chooses its addresses from.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}
