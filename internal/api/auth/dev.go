// Package auth authenticates callers: by API keys, OIDC tokens or console sessions, or without credentials in development mode.
package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MethodDev is the Method in development mode. Such callers have no rate limits.
const MethodDev = "dev"

// Dev accepts every caller as the platform admin "dev" and announces this in every response. Use it only for a server that listens only on loopback.
// The importing package must ensure this.
type Dev struct {
	// LocalOnly refuses requests to any host but localhost or a loopback address. Otherwise a web page whose host name resolves to 127.0.0.1 could act
	// as platform admin.
	LocalOnly bool
}

// Authenticate implements Authenticator.
func (d Dev) Authenticate(r *http.Request) (tenancy.Principal, error) {
	if d.LocalOnly && !isLocal(r.Host) {
		return tenancy.Principal{}, ipam.Errorf(ipam.CodeUnauthenticated,
			"In development mode, the server answers only requests to localhost or a loopback address; this request names another host.").
			At("header:Host", "must be localhost or a loopback address.")
	}
	return tenancy.Principal{Subject: "dev", Method: MethodDev, Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}}, nil
}

func isLocal(hostport string) bool {
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

// FromThisMachine reports whether a request was made on this machine. Such a request comes over loopback and not through a proxy. Its Host must be
// localhost or a loopback address, because a stranger can make any other name resolve to loopback.
func FromThisMachine(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	if err != nil || !address.Unmap().IsLoopback() || !isLocal(r.Host) {
		return false
	}
	return !isPassedOn(r.Header)
}
