package console

import (
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// largestSignIn is a sign-in's largest body in bytes. The body contains one API key, which is much shorter.
const largestSignIn = 4 << 10

// look returns the browser's session and the ways to sign in. If the session has ended, look removes its cookie.
func (c *Console) look(ec echo.Context) error {
	r, s := ec.Request(), c.signedOut()
	token := auth.SessionOf(r)
	if token != "" && auth.CheckConsole(r) == nil {
		ctx, tries := c.startAttempt(ec)
		defer tries.End()
		who, until, err := c.cfg.Sessions.Find(ctx, token)
		switch {
		case err == nil:
			s.SignedIn, s.Subject, s.ExpiresAt = true, who.Subject, &until
			return ec.JSON(http.StatusOK, s)
		case !ipam.IsCode(err, ipam.CodeUnauthenticated):
			return err
		}
		if refused := tries.Failed(ec.Response().Header(), err); ipam.IsCode(refused, ipam.CodeRateLimited) {
			return refused
		}
		unsetCookie(ec, auth.SessionCookie)
	}
	if c.cfg.Dev != nil {
		if who, err := c.cfg.Dev.Authenticate(r); err == nil {
			s.SignedIn, s.Subject = true, who.Subject
		}
	}
	return ec.JSON(http.StatusOK, s)
}

// signIn starts a session with an API key.
func (c *Console) signIn(ec echo.Context) error {
	r := ec.Request()
	if err := auth.CheckConsole(r); err != nil {
		return err
	}
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	ctx, tries := c.startAttempt(ec)
	defer tries.End()
	begun, err := c.cfg.Sessions.BeginWithKey(tenancy.WithoutCache(ctx), key, c.admit(ec))
	if ipam.IsCode(err, ipam.CodeUnauthenticated) {
		err = ipam.Errorf(ipam.CodeUnauthenticated, "This API key is not valid on this server.").At("/key", "is not valid.").WithCause(err)
	}
	if err != nil {
		return tries.Failed(ec.Response().Header(), err)
	}
	tries.End()
	if err := c.replace(ec, begun, tenancy.SessionHash(auth.SessionOf(r))); err != nil {
		return err
	}
	now := c.signedOut()
	now.SignedIn, now.Subject, now.ExpiresAt = true, begun.Subject, &begun.Expires
	return ec.JSON(http.StatusOK, now)
}

// keyOf reads the API key from a sign-in's body.
func keyOf(r *http.Request) (string, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType)); err != nil || kind != echo.MIMEApplicationJSON {
		return "", ipam.Errorf(ipam.CodeUnsupportedMediaType, "The body must be application/json.")
	}
	var body struct {
		Key string `json:"key"`
	}
	// also refuses duplicate names and names in the wrong case
	err := json.UnmarshalRead(io.LimitReader(r.Body, largestSignIn), &body, json.RejectUnknownMembers(true))
	if err != nil || body.Key == "" {
		return "", ipam.Errorf(ipam.CodeInvalidArgument, `The body must be {"key": "..."}, with an API key.`).At("/key", "is missing.")
	}
	return body.Key, nil
}

// replace ends the browser's previous session and sets the new session's cookie. previous is the hash of the previous session; see
// tenancy.SessionHash.
func (c *Console) replace(ec echo.Context, begun tenancy.StartedSession, previous []byte) error {
	if err := c.cfg.Sessions.EndByHash(ec.Request().Context(), previous); err != nil {
		return err
	}
	setCookie(ec, auth.SessionCookie, begun.Token, begun.Lasts, http.SameSiteStrictMode)
	return nil
}

// signOut ends the browser's session and removes its cookie.
func (c *Console) signOut(ec echo.Context) error {
	if err := auth.CheckConsole(ec.Request()); err != nil {
		return err
	}
	if token := auth.SessionOf(ec.Request()); token != "" {
		if err := c.cfg.Sessions.End(ec.Request().Context(), token); err != nil {
			return err
		}
	}
	unsetCookie(ec, auth.SessionCookie)
	return ec.NoContent(http.StatusNoContent)
}

// startAttempt returns the context for an authentication attempt, and the attempts that the client's address has left.
func (c *Console) startAttempt(ec echo.Context) (context.Context, *limits.Attempts) {
	ctx := ec.Request().Context()
	tries := c.cfg.Limits.AttemptsFrom(tenancy.OriginOf(ctx).Remote)
	return tenancy.WithAttempts(ctx, &tries), &tries
}

// admit counts a successful sign-in as one write by the subject, so that the write rate limit also limits sign-ins.
func (c *Console) admit(ec echo.Context) tenancy.Admit {
	return func(subject string) error {
		if c.cfg.Limits.Writes == nil {
			return nil
		}
		d := c.cfg.Limits.Writes.Take(subject)
		limits.Describe(ec.Response().Header(), d)
		return limits.Allow(d)
	}
}

// setCookie sets a cookie that no script can read.
func setCookie(ec echo.Context, name, value string, lasts time.Duration, mode http.SameSite) {
	name, secure := auth.CookieOf(ec.Request(), name)
	ec.SetCookie(&http.Cookie{ //nolint:gosec // the cookie is Secure if the server uses TLS
		Name: name, Value: value, Path: "/", MaxAge: int(lasts.Seconds()), Secure: secure, HttpOnly: true, SameSite: mode,
	})
}

func unsetCookie(ec echo.Context, name string) {
	setCookie(ec, name, "", -time.Second, http.SameSiteStrictMode)
}
