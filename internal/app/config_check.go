package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Authentication methods.
const (
	authDev  = "dev"
	authKeys = "keys"
	authOIDC = "oidc"
)

// Values for --tls-client-auth.
const (
	clientsRequired = "required"
	clientsOptional = "optional"
)

// Minimum and maximum settings.
const (
	largestRate       = 1_000_000
	fewestClients     = 16
	largestClients    = 1_000_000
	shortestRetention = time.Hour
)

// hasAuth reports whether an authentication method is enabled.
func (c Config) hasAuth(method string) bool { return slices.Contains(c.Auth, method) }

// checkDatabase returns an error if both flags name a database.
func (c Config) checkDatabase() error {
	if c.DatabaseURL != "" && c.DatabaseFile != "" {
		return errors.New("--database-url and --database-url-file both name a database; set only one of them (each is also a variable: CARVE_DATABASE_URL, CARVE_DATABASE_URL_FILE)")
	}
	return nil
}

// checkAuth returns an error if the configuration names no authentication method, because there is no default. It also ensures that development mode
// is used only on this machine.
func (c Config) checkAuth() error {
	if len(c.Auth) == 0 {
		return errors.New("--auth is required: choose a way to identify callers (--auth=keys by API keys; --auth=dev makes every caller platform admin, on loopback only)")
	}
	for _, a := range c.Auth {
		if a != authDev && a != authKeys && a != authOIDC {
			return fmt.Errorf("--auth %q is not one of dev, keys, oidc", a)
		}
	}
	if c.hasAuth(authDev) && !c.local() {
		return fmt.Errorf("--auth=dev makes every caller platform admin, so it listens on loopback only, not on %q; use --listen=127.0.0.1:8080", c.Listen)
	}
	if c.AdminKeyFile != "" && (!c.hasAuth(authKeys) || c.DatabaseURL != "" || c.DatabaseFile != "") {
		return errors.New("--admin-key-file is for the key that a server with --auth=keys and an embedded database makes; `ipamctl bootstrap` makes the first key of another database")
	}
	if c.hasAuth(authOIDC) != (c.OIDCConfig != "") {
		return errors.New("--auth=oidc and --oidc-config belong together: the file names the trusted issuers of tokens")
	}
	return nil
}

// checkExposure returns an error if credentials would cross a network unencrypted and the operator has not allowed that.
func (c Config) checkExposure() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	switch {
	case c.tls() && c.InsecureHTTP:
		return errors.New("--insecure-http and --tls-cert contradict each other; choose one")
	case !c.tls() && !c.InsecureHTTP && !c.local():
		return fmt.Errorf("on %q credentials would cross the network unencrypted: set --tls-cert and --tls-key, or --insecure-http if a proxy in front of this server terminates TLS", c.Listen)
	}
	if c.TLSClientCA != "" && !c.tls() {
		return errors.New("--tls-client-ca needs --tls-cert and --tls-key: certificates of clients are part of TLS")
	}
	if c.TLSClientCA == "" && c.TLSClientAuth != clientsRequired {
		return errors.New("--tls-client-auth needs --tls-client-ca, the CAs of the clients' certificates")
	}
	if _, err := c.webhookNetworks(); err != nil {
		return err
	}
	_, err := c.proxies()
	return err
}

// checkAdmin returns an error if the admin listener would be open to a network unencrypted and the operator has not allowed that.
func (c Config) checkAdmin() error {
	if c.AdminListen == "" {
		if c.Metrics == metricsAdmin {
			return errors.New("--metrics=admin needs --admin-listen, the address that serves the metrics")
		}
		return nil
	}
	_, port, err := net.SplitHostPort(c.AdminListen)
	switch {
	case err != nil:
		return fmt.Errorf("--admin-listen %q is not host:port", c.AdminListen)
	case c.AdminListen == c.Listen && port != "0":
		return fmt.Errorf("--admin-listen and --listen are both %s; set a separate address for the admin listener", c.Listen)
	case loopback(c.AdminListen):
		return nil
	case c.hasAuth(authDev):
		return fmt.Errorf("--auth=dev keeps the server on this machine, so --admin-listen cannot be %q; use 127.0.0.1", c.AdminListen)
	case !c.tls() && !c.InsecureHTTP:
		return fmt.Errorf("on --admin-listen %q the network could read the traffic: set --tls-cert and --tls-key, or --insecure-http if you control that network", c.AdminListen)
	}
	return nil
}

func (c Config) checkLimits() error {
	if c.MaxClients != 0 && (c.MaxClients < fewestClients || c.MaxClients > largestClients) {
		return fmt.Errorf("--max-clients %d is neither 0 (the limit on open files) nor between %d and %d", c.MaxClients, fewestClients, largestClients)
	}
	if c.ConsumerRetention < time.Hour {
		return fmt.Errorf("--%s must be at least an hour: an ended consumer must not come back before that", consumerRetention)
	}
	for flag, keep := range map[string]time.Duration{auditRetention: c.AuditRetention, historyRetention: c.HistoryRetention} {
		if keep != 0 && keep < shortestRetention {
			return fmt.Errorf("--%s %s is neither 0 (for ever) nor at least %s", flag, keep, shortestRetention)
		}
	}
	return cmp.Or(
		checkRange("request-timeout", c.RequestTimeout, 1, 10*time.Minute, "0 and 10m"),
		checkRange("drain-delay", c.DrainDelay, 0, 10*time.Minute, "0 and 10m"),
		checkRange("max-connections", c.MaxConnections, 2, 1000, "2 and 1000"),
		checkRange("rate-limit-reads", c.RateReads, 0, largestRate, "0 and 1000000"),
		checkRange("rate-limit-writes", c.RateWrites, 0, largestRate, "0 and 1000000"),
		checkRange("rate-limit-anonymous", c.RateAnonymous, 0, largestRate, "0 and 1000000"),
		checkRange("rate-limit-work", c.RateWork, 0, largestRate, "0 and 1000000"),
		checkRange("rate-limit-project-work", c.RateProject, 0, largestRate, "0 and 1000000"),
		checkRange("max-in-flight", c.MaxInFlight, 0, 100_000, "0 (no limit) and 100000"),
		checkRange("max-waiting", c.MaxWaiting, 0, 100_000, "0 (--max-in-flight) and 100000"),
		checkRange("max-spaces", c.MaxSpaces, 1, 10_000, "1 and 10000"),
		checkRange("stock-runway", c.StockRunway, time.Second, 720*time.Hour, "1s and 720h0m0s"),
		checkRange("utilization-every", c.UtilizationEvery, time.Second, 24*time.Hour, "1s and 24h"),
		// The metrics name a limited number of pools, because each pool has several series on every server.
		checkRange("metrics-pools", c.MetricsPools, 0, 1000, "0 (none) and 1000"),
	)
}

// checkRange checks that the value of a flag is between minimum and maximum. text describes this range for the error.
func checkRange[T int | time.Duration](flag string, value, minimum, maximum T, text string) error {
	if value < minimum || value > maximum {
		return fmt.Errorf("--%s %v is not between %s", flag, value, text)
	}
	return nil
}

// tls reports whether the server uses HTTPS.
func (c Config) tls() bool { return c.TLSCert != "" }

// local reports whether only this machine can reach the server.
func (c Config) local() bool { return loopback(c.Listen) }

// loopback reports whether only this machine can reach a listener at an address.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// proxies parses --trusted-proxies.
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
			return nil, fmt.Errorf("--trusted-proxies %q contains every address, so every client could choose its own address; list only your proxies", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
