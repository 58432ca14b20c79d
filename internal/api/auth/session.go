package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
)

// HeaderConsole is what requests of the console carry, as "1". A page of another origin cannot send it without being asked whether it may, and it may not;
// without it a cookie counts for nothing.
const HeaderConsole = "X-Carve-Console"

// passedOn are the headers by which it is seen that somebody passes on what others ask.
var passedOn = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// CookieOf is how a cookie of the console is called in answers to a request, and whether it is for TLS alone: always, but for a browser that asks its own
// machine by plain HTTP. With the prefix __Host- no other host, and nobody who can change plain HTTP, sets such a cookie.
func CookieOf(r *http.Request, name string) (full string, secure bool) {
	if r.TLS != nil || !local(r.Host) || isPassedOn(r.Header) {
		return "__Host-" + name, true
	}
	return name, false
}

func isPassedOn(h http.Header) bool {
	for _, name := range passedOn {
		if len(h.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// SessionCookie is the cookie that says who is signed in.
const SessionCookie = "carve-session"

// FromConsole refuses a request that the console did not send: a page of another origin, or no page at all.
func FromConsole(r *http.Request) error {
	if r.Header.Get(HeaderConsole) != "1" {
		return ipam.Errorf(ipam.CodePermissionDenied, "This is for the console alone: the header %s is missing.", HeaderConsole)
	}
	if !sameOrigin(r) {
		return ipam.Errorf(ipam.CodePermissionDenied, "A page of another origin must not ask this.")
	}
	return nil
}

// sameOrigin reports whether a request is not of a page of another origin, as far as the browser says. Whether the outside speaks TLS is not known here; the
// host is.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	for _, origin := range r.Header.Values(echo.HeaderOrigin) {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) || r.TLS != nil && u.Scheme != "https" {
			return false
		}
	}
	return true
}

// SessionOf is what the browser sends for the session of the console; "": nothing, or not as the console does.
func SessionOf(r *http.Request) string {
	if r.Header.Get(HeaderConsole) != "1" {
		return ""
	}
	return Held(r)
}

// Held is the session that a browser has, whoever asks: good for ending it, and for nothing else.
func Held(r *http.Request) string {
	name, _ := CookieOf(r, SessionCookie)
	given := r.CookiesNamed(name)
	if len(given) != 1 { // of two nobody knows which is ours
		return ""
	}
	return given[0].Value
}

// Credentials is what tells callers apart before anybody has looked whether it is valid; "": nothing. However a token is written around, it is one caller's;
// all that is no token is of one caller, too.
func Credentials(r *http.Request) string {
	switch token, given := bearer(r.Header); {
	case token != "":
		return token
	case given:
		return "no token"
	default:
		return SessionOf(r)
	}
}
