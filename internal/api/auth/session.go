package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
)

// HeaderConsole is a header that the console sends with the value "1". A page from another origin cannot send it without a CORS preflight, which the
// server does not allow. Without the header, the server ignores the session cookie.
const HeaderConsole = "X-Carve-Console"

// passedOn are the headers that reveal a proxy.
var passedOn = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// CookieOf returns the full name that a console cookie has in responses to a request, and whether browsers send the cookie only over TLS. They do,
// unless the browser has requested its own machine over plain HTTP. A cookie for TLS has the prefix __Host-, so that neither another host nor an
// attacker who can change plain HTTP can set it.
func CookieOf(r *http.Request, name string) (full string, secure bool) {
	if r.TLS != nil || !isLocal(r.Host) || isPassedOn(r.Header) {
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

// SessionCookie is the cookie with the console session.
const SessionCookie = "carve-session"

// CheckConsole returns an error if the console did not send the request: the request lacks the console's header, or comes from a page of another
// origin.
func CheckConsole(r *http.Request) error {
	if r.Header.Get(HeaderConsole) != "1" {
		return ipam.Errorf(ipam.CodePermissionDenied, "Only the console may send this request: the header %s is missing.", HeaderConsole)
	}
	if !sameOrigin(r) {
		return ipam.Errorf(ipam.CodePermissionDenied, "A page of another origin may not send this request.")
	}
	return nil
}

// sameOrigin returns false if the browser reports that a page of another origin sent the request. It always compares hosts. It compares schemes only
// if the server itself ends TLS, because behind a proxy the server does not know whether the browser used TLS.
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

// SessionOf returns the console session in a request. It returns "" if there is none, or if the request lacks the console's header.
func SessionOf(r *http.Request) string {
	if r.Header.Get(HeaderConsole) != "1" {
		return ""
	}
	return SessionToEnd(r)
}

// SessionToEnd returns the console session in a request, even without the console's header. Use the result only to end the session.
func SessionToEnd(r *http.Request) string {
	name, _ := CookieOf(r, SessionCookie)
	given := r.CookiesNamed(name)
	if len(given) != 1 { // if there are two cookies, the server cannot know which one it has set
		return ""
	}
	return given[0].Value
}

// Credentials returns a text that identifies a caller before authentication, or "" if the request has no credentials. The spelling of the header
// makes no difference. All malformed tokens count as one caller.
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
