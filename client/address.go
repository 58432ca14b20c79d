package client

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// ErrInsecureHTTP is the error from [New] for a plain http URL of another machine.
var ErrInsecureHTTP = errors.New("plain http, where everybody on the way can read the credential: " +
	"use https, or WithInsecureHTTP if that network is yours alone")

// parseServer checks a base URL. Its errors do not contain a password.
func parseServer(text string, insecure bool) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("client: the base URL must be like https://carve.example.com, with a host and without a query")
	case u.User != nil:
		return "", errors.New("client: the base URL holds a credential; give it with WithAPIKey or WithHeader")
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return "", fmt.Errorf("client: %s is %w", u.Redacted(), ErrInsecureHTTP)
	}
	return u.String(), nil
}

// loopback reports whether a host is this machine. It decides by the name or address alone and makes no DNS lookup.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
