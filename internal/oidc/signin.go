package oidc

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// SignIn signs users in at one issuer, by an authorization code with PKCE. It verifies the ID token in the same way as other tokens, but the audience
// is the console's client. From the ID token it keeps only the claims about the user.
type SignIn struct {
	source   *source
	verifier *Verifier
	client   Client
	issuer   *issuer // the issuer, with the client as its audience

	discovery singleflight.Group
	found     endpoints // used only in the calls of discovery, which run one at a time
}

// endpoints are an issuer's endpoints, from its discovery document.
type endpoints struct {
	oauth2.Endpoint

	signs  bool // whether authorization responses contain the issuer (RFC 9207)
	failed error
	at     time.Time
}

// failureKept is the time for which a failed discovery is cached.
const failureKept = 2 * time.Second

// Attempt is one sign-in's state. The browser stores it.
type Attempt struct {
	State    string
	Nonce    string
	Verifier string // code verifier for PKCE
	Redirect string // redirect URL, used if the configuration has none
}

func newSignIn(v *Verifier, is *issuer, from *source) *SignIn {
	own := *is
	own.Audience, own.AuthorizedParties = is.SignIn.ClientID, nil
	return &SignIn{source: from, verifier: v, client: is.SignIn, issuer: &own}
}

// IsCurrent implements tenancy.Issuers.
func (v *Verifier) IsCurrent(url string, rules ipam.ID) bool {
	is, ok := v.issuers[url]
	return ok && is.signIn != nil && is.mark == rules
}

// SignIns returns the issuers at which users can sign in, by name.
func (v *Verifier) SignIns() map[string]*SignIn {
	out := map[string]*SignIn{}
	for is := range maps.Values(v.issuers) {
		if is.signIn != nil {
			out[is.Name] = is.signIn
		}
	}
	return out
}

// Begin returns the issuer's URL to which the browser must go.
func (s *SignIn) Begin(ctx context.Context, a Attempt) (string, error) {
	there, err := s.endpoints(ctx)
	if err != nil {
		return "", err
	}
	return s.config(there, "", a).AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Verifier), oidc.Nonce(a.Nonce)), nil
}

// End exchanges the code from the authorization response for an ID token. responseIssuer is the issuer in the response, or "" if the response has
// none.
func (s *SignIn) End(ctx context.Context, code, responseIssuer string, a Attempt) (p tenancy.Proof, err error) {
	there, err := s.endpoints(ctx)
	switch {
	case err != nil:
		return p, err
	case responseIssuer != "" && responseIssuer != s.issuer.URL, responseIssuer == "" && there.signs:
		return p, tenancy.NotValid("belongs to another issuer")
	}
	secret, err := s.client.secret()
	if err != nil {
		return p, ipam.Errorf(ipam.CodeUnavailable, "Sign-in at this issuer does not work now, because the server cannot read its client secret. Ask the operator.").WithCause(err)
	}
	tokens, err := s.config(there, secret, a).Exchange(oidc.ClientContext(ctx, s.source.client), code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return p, exchangeError(err)
	}
	token, _ := tokens.Extra("id_token").(string)
	return s.proof(ctx, token, a.Nonce)
}

// exchangeError returns the error for a failed exchange. The error contains no secret from the request or the response.
func exchangeError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok || refused.Response == nil:
		return unavailable(0, err)
	case refused.Response.StatusCode < 500:
		return tenancy.NotValid(fmt.Sprintf("was not issued: the issuer returned %d %q", refused.Response.StatusCode, refused.ErrorCode))
	default:
		return unavailable(0, errors.New(refused.Response.Status))
	}
}

// proof verifies an ID token and returns the user's identity and roles.
func (s *SignIn) proof(ctx context.Context, token, nonce string) (p tenancy.Proof, err error) {
	if len(token) > maxToken || !compact(token) {
		return p, tenancy.NotValid("is not an ID token")
	}
	subject, claims, err := s.verifier.read(ctx, s.issuer, token)
	if err != nil {
		return p, err
	}
	if got, _ := claims["nonce"].(string); subtle.ConstantTimeCompare([]byte(got), []byte(nonce)) != 1 {
		return p, tenancy.NotValid("was made for another sign-in")
	}
	if party, given := claims["azp"]; given && party != s.client.ClientID { // OpenID Connect Core 1.0, section 3.1.3.7
		return p, tenancy.NotValid("was issued for another client")
	}
	expires, _ := claims["exp"].(float64) // read has checked that it is a number
	return tenancy.Proof{
		Subject: subject, Issuer: s.issuer.URL, Rules: s.issuer.mark, Roles: rolesOf(s.issuer.rules, claims), Expires: time.Unix(int64(expires), 0),
	}, nil
}

func (s *SignIn) config(there endpoints, secret string, a Attempt) *oauth2.Config {
	if secret == "" {
		there.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: s.client.ClientID, ClientSecret: secret, Endpoint: there.Endpoint, RedirectURL: cmp.Or(s.client.RedirectURL, a.Redirect),
		Scopes: s.client.Scopes,
	}
}

// endpoints returns the cached endpoints. If they are too old, it asks the issuer. Concurrent calls share one request.
func (s *SignIn) endpoints(ctx context.Context) (endpoints, error) {
	asked := s.discovery.DoChan("", func() (any, error) {
		kept := freshFor
		if s.found.failed != nil {
			kept = failureKept
		}
		if s.found.at.IsZero() || time.Since(s.found.at) > kept {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
			defer cancel()
			s.found = s.ask(ctx)
		}
		return s.found, nil
	})
	select {
	case <-ctx.Done():
		return endpoints{}, ctx.Err()
	case response := <-asked:
		found, _ := response.Val.(endpoints)
		if found.failed != nil {
			return endpoints{}, unavailable(0, found.failed)
		}
		return found, nil
	}
}

func (s *SignIn) ask(ctx context.Context) endpoints {
	fails := func(err error) endpoints {
		return endpoints{failed: fmt.Errorf("discovery: %w", err), at: time.Now()}
	}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.source.client), s.issuer.URL)
	if err != nil {
		return fails(err)
	}
	out := endpoints{Endpoint: provider.Endpoint(), at: time.Now()}
	for _, at := range []string{out.AuthURL, out.TokenURL} {
		if u, err := url.Parse(at); err != nil || !secure(u) {
			return fails(fmt.Errorf("endpoint %q is not an https URL", at))
		}
	}
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Signs   bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&says); err != nil {
		return fails(err)
	}
	out.signs, out.AuthStyle = says.Signs, oauth2.AuthStyleInHeader
	if len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") {
		out.AuthStyle = oauth2.AuthStyleInParams
	}
	return out
}
