package webhook

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	urlField    = "/spec/url"
	longestURL  = 2048 // bytes
	longestName = 253  // characters in a name: RFC 1035, 2.3.4
)

// nameShape matches a host name whose last label is not a number in any notation. Resolvers would treat names such as 127.1 and 0x7f000001 as
// addresses.
var nameShape = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// CheckURL checks a webhook's URL without resolving its name. It returns nil or an *ipam.Error that points to the field. The URL must be https. If
// the operator allows networks, the URL may also be http, with an address in these networks or with a name. The guard checks a name's address when it
// connects.
func CheckURL(raw string, allowed Networks) error {
	if len(raw) > longestURL {
		return ipam.Invalid(urlField, "must have at most %d bytes; it has %d.", longestURL, len(raw))
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return ipam.Invalid(urlField, "must be an absolute URL, such as https://hooks.example.com/carve.")
	case u.Scheme == "http" && len(allowed) == 0:
		return ipam.Invalid(urlField, "must begin with https://; http is for private networks that the operator allows, and this server allows none.")
	case u.Scheme != "https" && u.Scheme != "http":
		return ipam.Invalid(urlField, "must begin with https://.")
	case u.User != nil:
		return ipam.Invalid(urlField, "must not have a user or a password; a receiver verifies the signature of a delivery instead.")
	case strings.Contains(raw, "#"):
		return ipam.Invalid(urlField, "must not have a fragment (#).")
	}
	if err := checkPort(u); err != nil {
		return err
	}
	return checkHost(u, allowed)
}

// Concealed returns a URL without its possible secrets. It keeps the scheme, host and port, and replaces the path and the query by /... It returns ""
// if raw is not a URL.
func Concealed(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery {
		shown.Path = "/..."
	}
	return shown.String()
}

// checkPort returns an error for a port that usually serves another protocol than HTTP.
func checkPort(u *url.URL) error {
	if u.Port() == "" {
		return nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if usual := port == 443 || port == 80 && u.Scheme == "http"; err != nil || !usual && port < 1024 {
		return ipam.Invalid(urlField, "must have port 443, a port from 1024 to 65535, or port 80 with http.")
	}
	return nil
}

func checkHost(u *url.URL, allowed Networks) error {
	host := u.Hostname()
	address, err := netip.ParseAddr(host)
	if err != nil {
		if len(host) > longestName || !nameShape.MatchString(host) {
			return ipam.Invalid(urlField, "must have a host name of ASCII letters, digits and -, or an IP address.")
		}
		return nil
	}
	guard := guardTLS(allowed)
	if u.Scheme == "http" {
		guard = guardPlain(allowed)
	}
	if guard.check(address) != nil {
		return ipam.Invalid(urlField, "must have a public address and https, or an address in a network that the server's operator allows.")
	}
	return nil
}
