package limits

import (
	"net/http"
	"net/netip"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
)

// Attempts limits a client address's authentication attempts, during one request. It has a lock, because a look-up of credentials may outlive its
// request and still call Attempts.
type Attempts struct {
	limiter *ratelimit.Limiter // nil: no limit
	address string

	mu      sync.Mutex
	release func() // returns the reserved attempt; nil: none is reserved
	ended   bool
}

// AttemptsFrom returns the attempts for a client's address.
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

// End returns the reserved attempt to the limiter.
func (t *Attempts) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.release != nil {
		t.release()
	}
	t.release, t.ended = nil, true
}

// Failed counts a failed authentication and returns the error for the client. It counts only failures that the client caused.
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

// network returns the text that identifies a client for the limit: the IPv4 address, or the /64 of an IPv6 address. An IPv6 host can choose any
// address in its /64.
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
