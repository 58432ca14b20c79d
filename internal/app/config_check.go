package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// The ways to identify callers.
const (
	authDev  = "dev"
	authKeys = "keys"
	authOIDC = "oidc"
)

// The bounds of what limits can be.
const (
	largestRate       = 1_000_000
	largestInFlight   = 100_000
	shortestRetention = time.Hour
	maxStockRunway    = 30 * 24 * time.Hour
)

// by reports whether callers are identified in a way.
func (c Config) by(way string) bool { return slices.Contains(c.Auth, way) }

// checkAuth refuses to start open: there is no way in by default, and development mode stays on this machine.
func (c Config) checkAuth() error {
	if len(c.Auth) == 0 {
		return errors.New("--auth is required: say how callers are identified (--auth=keys by API keys; --auth=dev lets everybody in as platform admin, on loopback only)")
	}
	for _, a := range c.Auth {
		if a != authDev && a != authKeys && a != authOIDC {
			return fmt.Errorf("--auth %q is not one of dev, keys, oidc", a)
		}
	}
	if c.by(authDev) && !c.local() {
		return fmt.Errorf("--auth=dev lets everybody in as platform admin, so it listens on loopback only, not on %q; use --listen=127.0.0.1:8080", c.Listen)
	}
	if c.by(authOIDC) != (c.OIDCConfig != "") {
		return errors.New("--auth=oidc and --oidc-config belong together: the file says whose tokens are taken")
	}
	return nil
}

// checkExposure refuses to send credentials over a network in the clear, unless that was asked for.
func (c Config) checkExposure() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	switch {
	case c.tls() && c.InsecureHTTP:
		return errors.New("--insecure-http and --tls-cert contradict each other; choose one")
	case !c.tls() && !c.InsecureHTTP && !c.local():
		return fmt.Errorf("on %q credentials would cross the network in the clear: give --tls-cert and --tls-key, or --insecure-http when something in front of this server speaks TLS", c.Listen)
	}
	_, err := c.proxies()
	return err
}

func (c Config) checkLimits() error {
	for _, l := range []struct {
		flag  string
		value int
	}{{"reads", c.RateReads}, {"writes", c.RateWrites}, {"anonymous", c.RateAnonymous}} {
		if l.value < 0 || l.value > largestRate {
			return fmt.Errorf("--rate-limit-%s %d is not between 0 and %d", l.flag, l.value, largestRate)
		}
	}
	if c.MaxInFlight < 0 || c.MaxInFlight > largestInFlight {
		return fmt.Errorf("--max-in-flight %d is not between 0 (no bound) and %d", c.MaxInFlight, largestInFlight)
	}
	if c.StockRunway < time.Second || c.StockRunway > maxStockRunway {
		return fmt.Errorf("--stock-runway %s is not between 1s and %s", c.StockRunway, maxStockRunway)
	}
	if c.MaxWaiting < 0 || c.MaxWaiting > largestInFlight {
		return fmt.Errorf("--max-waiting %d is not between 0 (as many as in flight) and %d", c.MaxWaiting, largestInFlight)
	}
	if c.AuditRetention != 0 && c.AuditRetention < shortestRetention {
		return fmt.Errorf("--audit-retention %s is neither 0 (for ever) nor at least %s", c.AuditRetention, shortestRetention)
	}
	return nil
}

// tls reports whether the server speaks HTTPS.
func (c Config) tls() bool { return c.TLSCert != "" }

// local reports whether the server can be reached from this machine alone.
func (c Config) local() bool {
	host, _, _ := net.SplitHostPort(c.Listen)
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// proxies reads --trusted-proxies.
func (c Config) proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range c.TrustedProxies {
		s = strings.TrimSpace(s)
		p, err := netip.ParsePrefix(s)
		if a, alone := netip.ParseAddr(s); alone == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies %q is neither an address nor a CIDR", s)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("--trusted-proxies %q is everybody, so everybody could say who they are; name your proxies", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
