// Package auth authenticates callers: API keys, tokens of issuers, console sessions, or anybody in development mode.
package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MethodDev is the Method of callers in development mode. They have no rate limits.
const MethodDev = "dev"

// Dev accepts every caller as platform admin "dev" and announces this in every response. It is for a server that listens on loopback alone; the
// caller of this package ensures that.
type Dev struct {
	// LocalOnly refuses requests to any host but localhost or a loopback address: a web page whose host name resolves to 127.0.0.1 must not become
	// platform admin.
	LocalOnly bool
}

// Authenticate implements Authenticator.
func (d Dev) Authenticate(r *http.Request) (tenancy.Principal, error) {
	if d.LocalOnly && !local(r.Host) {
		return tenancy.Principal{}, ipam.Errorf(ipam.CodeUnauthenticated,
			"In development mode, the server answers only requests to localhost or a loopback address; this request names another host.").
			At("header:Host", "must be localhost or a loopback address.")
	}
	return tenancy.Principal{Subject: "dev", Method: MethodDev, Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}}, nil
}

func local(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// Announce implements Announcer.
func (Dev) Announce(h http.Header) { h.Set("Carve-Auth", "dev (insecure)") }

// FromHere reports whether a request was made on this machine: over loopback, to a loopback name (and not to a name that a stranger has pointed
// there), and not through a proxy.
func FromHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	if err != nil || !address.Unmap().IsLoopback() || !local(r.Host) {
		return false
	}
	return !isPassedOn(r.Header)
}
