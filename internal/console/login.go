package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/oidc"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	attemptCookie = "carve-signin"
	attemptLasts  = 10 * time.Minute
	longestReturn = 1024
)

// attempt is the state that a browser stores while it is at the issuer. The parameters for the issuer are hashes of the seed, so that no parameter
// reveals another parameter or the seed. If a callback comes without the seed, the sign-in did not start in this browser.
type attempt struct {
	Seed   []byte `json:"s"`
	Issuer string `json:"i"`
	Return string `json:"r"`
	// Before is the browser's previous session as a hash; see tenancy.SessionHash. The browser does not send its session cookie when it returns from
	// another site, so attempt keeps the hash.
	Before []byte `json:"b,omitempty"`
}

// parameters derives the sign-in's parameters from the seed.
func (a attempt) parameters(r *http.Request) oidc.Attempt {
	part := func(purpose string) string {
		m := hmac.New(sha256.New, a.Seed)
		_, _ = m.Write([]byte(purpose)) // it never fails
		return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
	}
	scheme := "http"
	if _, secure := auth.CookieOf(r, attemptCookie); secure {
		scheme = "https"
	}
	return oidc.Attempt{State: part("state"), Nonce: part("nonce"), Verifier: part("verifier"), Redirect: scheme + "://" + r.Host + oidc.CallbackPath}
}

// login redirects the browser to an issuer for the sign-in.
func (c *Console) login(ec echo.Context) error {
	r := ec.Request()
	at, ok := c.cfg.Issuers[ec.QueryParam("issuer")]
	if !ok {
		return ipam.Errorf(ipam.CodeNotFound, "No issuer for sign-in has this name.")
	}
	// A link on another page must not change the session. Also, the browser does not send its session cookie with such a link.
	if isCrossSite(r) {
		return show(ec, http.StatusOK, message{"Sign in to Carve", "Another page sent you here. Continue only if you want to sign in.", r.URL.RequestURI(), "Sign in with " + ec.QueryParam("issuer")})
	}
	_, tries := c.startAttempt(ec)
	defer tries.End()
	if err := tries.Reserve(); err != nil {
		return tries.Failed(ec.Response().Header(), err)
	}
	a := attempt{
		Seed: make([]byte, sha256.Size), Issuer: ec.QueryParam("issuer"), Return: safeReturn(ec.QueryParam("return")), Before: tenancy.SessionHash(auth.SessionToEnd(r)),
	}
	_, _ = rand.Read(a.Seed) // it never fails
	there, err := at.Begin(r.Context(), a.parameters(r))
	if err != nil {
		return err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	// The cookie must be Lax, because the browser comes back from another site.
	setCookie(ec, attemptCookie, base64.RawURLEncoding.EncodeToString(text), attemptLasts, http.SameSiteLaxMode)
	return ec.Redirect(http.StatusSeeOther, there)
}

// isCrossSite reports whether a page of another origin has sent the browser here. It returns false if the user typed the address.
func isCrossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// callback completes the sign-in when the browser returns from the issuer. It deletes the attempt's cookie, so that the browser can call it only
// once.
func (c *Console) callback(ec echo.Context) error {
	r := ec.Request()
	a, ok := attemptOf(r)
	unsetCookie(ec, attemptCookie)
	if !ok {
		return ipam.Errorf(ipam.CodeInvalidArgument, "This browser did not start this sign-in, or the sign-in is too old. Start again.")
	}
	at, configured := c.cfg.Issuers[a.Issuer]
	asked := a.parameters(r)
	if !configured || !hmac.Equal([]byte(ec.QueryParam("state")), []byte(asked.State)) {
		return ipam.Errorf(ipam.CodeInvalidArgument, "This response belongs to another sign-in. Start again.")
	}
	ctx, tries := c.startAttempt(ec)
	defer tries.End()
	if ec.QueryParam("error") != "" || ec.QueryParam("code") == "" {
		return tries.Failed(ec.Response().Header(), ipam.Errorf(ipam.CodeUnauthenticated, "The issuer did not sign you in."))
	}
	err := tries.Reserve()
	if err == nil {
		var proof tenancy.Proof
		if proof, err = at.End(ctx, ec.QueryParam("code"), ec.QueryParam("iss"), asked); err == nil {
			var begun tenancy.StartedSession
			if begun, err = c.cfg.Sessions.BeginWithProof(ctx, proof, c.admit(ec)); err == nil {
				err = c.replace(ec, begun, a.Before)
			}
		}
	}
	if ipam.IsCode(err, ipam.CodeUnauthenticated) {
		err = ipam.Errorf(ipam.CodeUnauthenticated, "This server does not accept the identity that the issuer sent.").WithCause(err)
	}
	if err != nil {
		return tries.Failed(ec.Response().Header(), err)
	}
	return ec.Redirect(http.StatusSeeOther, safeReturn(a.Return))
}

// attemptOf reads the attempt from the browser's cookie. ok is false if there is no valid attempt.
func attemptOf(r *http.Request) (a attempt, ok bool) {
	name, _ := auth.CookieOf(r, attemptCookie)
	given := r.CookiesNamed(name)
	if len(given) != 1 {
		return a, false
	}
	text, err := base64.RawURLEncoding.DecodeString(given[0].Value)
	if err != nil || json.Unmarshal(text, &a) != nil {
		return a, false
	}
	return a, len(a.Seed) == sha256.Size
}

// safeReturn returns the path to open after the sign-in. If the requested path is not in the console, it returns the console's start page.
func safeReturn(asked string) string {
	u, err := url.Parse(asked)
	if err != nil || len(asked) > longestReturn || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(asked, "\\\x00\r\n\t") {
		return Path
	}
	if clean := path.Clean(u.Path); clean+"/" != u.Path && clean != u.Path || !strings.HasPrefix(u.Path, Path) {
		return Path
	}
	out := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, Fragment: u.Fragment}
	return out.String()
}
