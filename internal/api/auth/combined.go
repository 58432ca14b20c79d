package auth

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Authenticator authenticates callers. If the credentials are missing or not valid, it returns an *ipam.Error with the code unauthenticated. The
// server calls it once for each request to an operation that needs credentials.
type Authenticator interface {
	Authenticate(r *http.Request) (tenancy.Principal, error)
}

// Announcer is an Authenticator that adds a header to every response.
type Announcer interface {
	Announce(h http.Header)
}

// Tokens authenticates bearer tokens.
type Tokens interface {
	Authenticate(ctx context.Context, token string) (tenancy.Principal, error)
}

// Combined combines several authenticators. It passes each kind of credentials to exactly one of them. A nil field disables its kind.
type Combined struct {
	Keys Tokens // tokens with keyPrefix
	OIDC Tokens // all other tokens
	// Sessions authenticates console sessions, for requests without the header Authorization.
	Sessions Tokens
	// Dev accepts requests without credentials. If a request has credentials that are not valid, Combined returns their error and does not use Dev,
	// because the caller wants another identity than dev.
	Dev Authenticator
}

// keyPrefix begins every API key.
const keyPrefix = "carve_"

// Authenticate implements Authenticator.
func (w Combined) Authenticate(r *http.Request) (who tenancy.Principal, err error) {
	token, given := bearer(r.Header)
	isKey := strings.HasPrefix(token, keyPrefix)
	session := ""
	if w.Sessions != nil && !given {
		session = SessionOf(r)
	}
	switch {
	case !given && r.Header.Get(HeaderConsole) != "" && !sameOrigin(r):
		return who, ipam.Errorf(ipam.CodeUnauthenticated, "The server does not accept a session of the console from a page of another origin.")
	case session != "":
		return w.Sessions.Authenticate(r.Context(), session)
	case w.Keys != nil && isKey:
		return w.Keys.Authenticate(r.Context(), token)
	case w.OIDC != nil && token != "" && !isKey:
		return w.OIDC.Authenticate(r.Context(), token)
	case w.Dev != nil && !isRead(r) && !sameOrigin(r): // without this check, such a page could act as "dev"
		return who, ipam.Errorf(ipam.CodeUnauthenticated, "A page of another origin cannot change anything without credentials; send the request from a page of this server.")
	case w.Dev != nil:
		return w.Dev.Authenticate(r)
	case !given:
		return who, ipam.Errorf(ipam.CodeUnauthenticated,
			"This request carries no credentials; send an API key or a token in the header Authorization, as Bearer.")
	default:
		return who, tenancy.NotValid("has a kind that this server does not accept")
	}
}

// Announce implements Announcer.
func (w Combined) Announce(h http.Header) {
	if dev, ok := w.Dev.(Announcer); ok {
		dev.Announce(h)
	}
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// bearer reads the header Authorization (RFC 6750, section 2.1). given reports whether the header exists. token is "" unless the header is exactly
// one bearer token.
func bearer(h http.Header) (token string, given bool) {
	values := h.Values(echo.HeaderAuthorization)
	if len(values) != 1 {
		return "", len(values) > 0
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !VisibleASCII(token) {
		return "", true
	}
	return token, true
}

// VisibleASCII reports whether a text has only visible ASCII characters, and at least one.
func VisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return s != ""
}
