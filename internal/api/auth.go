package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// Authenticator finds out who is asking. It answers an *ipam.Error with code unauthenticated when the credentials are
// missing or not valid. It is asked once for each request to an operation that needs credentials.
type Authenticator interface {
	Authenticate(r *http.Request) (tenancy.Principal, error)
}

// announcer is an Authenticator that says something about itself in the header of every answer.
type announcer interface {
	Announce(h http.Header)
}

// Dev accepts anybody as platform admin "dev" and says so in every answer. It is for a server that listens on loopback
// alone; whoever builds the server sees to that.
type Dev struct{}

// Authenticate implements Authenticator.
func (Dev) Authenticate(*http.Request) (tenancy.Principal, error) {
	return tenancy.Principal{Subject: "dev", Method: "dev", PlatformAdmin: true}, nil
}

// Announce implements announcer.
func (Dev) Announce(h http.Header) { h.Set("Carve-Auth", "dev (insecure)") }

// authenticate puts the caller into the request's context, where the use cases look for it.
func (a *adapter) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.public {
			return next(c)
		}
		r := c.Request()
		who, err := a.cfg.Authenticator.Authenticate(r)
		if err != nil {
			return err
		}
		c.SetRequest(r.WithContext(tenancy.WithPrincipal(r.Context(), who)))
		return next(c)
	}
}
