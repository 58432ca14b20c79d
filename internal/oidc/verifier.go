package oidc

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// maxToken is a token's maximum length in bytes.
const maxToken = 16 << 10

// Members returns a subject's roles as a member, by project.
type Members interface {
	MemberRoles(ctx context.Context, subject string) (map[string]tenancy.Held, error)
}

// Options configures a Verifier. Members must be set.
type Options struct {
	Members Members
	Clock   func() time.Time // nil: the system clock
	Log     *slog.Logger     // nil: no log

	transport http.RoundTripper // nil: the network
}

// Verifier authenticates all configured issuers' tokens.
type Verifier struct {
	issuers map[string]*issuer // by URL
	members Members
	clock   func() time.Time
}

// issuer is one configured issuer.
type issuer struct {
	Issuer

	algorithms []jose.SignatureAlgorithm
	rules      []rule
	keys       *keySet
	mark       ipam.ID // hash over the settings that determine subjects and roles
	signIn     *SignIn // nil: no sign-in at this issuer
}

// New returns a Verifier. It sends no request to an issuer.
func New(c Config, o Options) (*Verifier, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	v := &Verifier{issuers: map[string]*issuer{}, members: o.Members, clock: o.Clock}
	for _, conf := range c.Issuers {
		from, err := newSource(conf, o.transport)
		if err != nil {
			return nil, fmt.Errorf("issuer %s: %w", conf.Name, err)
		}
		is := &issuer{Issuer: conf, keys: newKeySet(conf.Name, o.Log, from.keys)}
		for _, a := range conf.Algorithms {
			is.algorithms = append(is.algorithms, jose.SignatureAlgorithm(a))
		}
		for _, r := range conf.Roles {
			compiled, err := r.compile()
			if err != nil {
				return nil, err
			}
			is.rules = append(is.rules, compiled)
		}
		is.mark = conf.mark()
		if conf.SignIn.ClientID != "" {
			is.signIn = newSignIn(v, is, from)
		}
		v.issuers[conf.URL] = is
	}
	return v, nil
}

// Authenticate returns a token's principal. If the token is not valid, the error has the code unauthenticated. If the verification needs keys from
// the issuer and the issuer does not respond, the code is unavailable.
func (v *Verifier) Authenticate(ctx context.Context, token string) (tenancy.Principal, error) {
	var nobody tenancy.Principal
	if len(token) > maxToken {
		return nobody, tenancy.NotValid("is too long")
	}
	if !compact(token) {
		return nobody, tenancy.NotValid("is neither an API key nor a JWT")
	}
	from, err := unverifiedIssuer(token)
	if err != nil {
		return nobody, tenancy.NotValid("has claims that cannot be read")
	}
	is, ok := v.issuers[from]
	if !ok {
		return nobody, tenancy.NotValid("has an issuer that is not configured")
	}
	subject, claims, err := v.read(ctx, is, token)
	if err != nil {
		return nobody, err
	}
	members, err := v.members.MemberRoles(ctx, subject)
	if err != nil {
		return nobody, err
	}
	return tenancy.Principal{Subject: subject, Method: "oidc", Roles: rolesOf(is.rules, claims), Held: members}, nil
}

// read verifies an issuer's token, and returns its subject and claims.
func (v *Verifier) read(ctx context.Context, is *issuer, token string) (subject string, claims map[string]any, err error) {
	if err := checkHeader(token); err != nil {
		return "", nil, tenancy.NotValid(err.Error())
	}
	claims, err = is.verify(ctx, token)
	if err != nil {
		return "", nil, err
	}
	if err := is.checkPurpose(claims); err != nil {
		return "", nil, tenancy.NotValid(err.Error())
	}
	if err := checkTimes(claims, v.clock(), is.ClockSkew); err != nil {
		return "", nil, tenancy.NotValid(err.Error())
	}
	if is.SubjectClaim == "email" && claims["email_verified"] != true {
		return "", nil, tenancy.NotValid("has an email that its issuer has not verified")
	}
	name, ok := find(claims, is.SubjectClaim).(string)
	subject = is.Name + ":" + name
	if !ok || name == "" || !ipam.ValidSubject(subject) {
		return "", nil, tenancy.NotValid("has no claim " + is.SubjectClaim + " that can serve as a subject")
	}
	return subject, claims, nil
}

// compact reports whether a token has the compact form. The JSON form is not allowed in an HTTP header.
func compact(token string) bool {
	for i := range len(token) {
		c := token[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return strings.Count(token, ".") == 2
}

// verify returns a token's claims if its signature, issuer and audience are valid. It does not check the times.
func (is *issuer) verify(ctx context.Context, token string) (map[string]any, error) {
	signed, err := jose.ParseSignedCompact(token, is.algorithms)
	if err != nil {
		return nil, tenancy.NotValid("is not a JWT with an allowed algorithm")
	}
	id := signed.Signatures[0].Header.KeyID
	candidates, err := is.keys.find(ctx, id)
	if err != nil {
		return nil, err
	}
	payload := verifiedPayload(signed, candidates)
	if payload == nil && id == "" {
		// The token names no key, and no cached key has signed it. So the key that has signed it may be new.
		if candidates, err = is.keys.refresh(ctx, id); err != nil {
			return nil, err
		}
		payload = verifiedPayload(signed, candidates)
	}
	if payload == nil {
		return nil, tenancy.NotValid("was not signed by a published key")
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil { // refuses repeated names, as decode does
		return nil, tenancy.NotValid("has claims that cannot be read")
	}
	// A user may be able to choose some claims' names. So names must match exactly: `ISS` and `AUD` do not count as `iss` and `aud`.
	// (oidc.IDTokenVerifier ignores case.)
	if claims["iss"] != is.URL || !slices.Contains(stringsOf(claims["aud"]), is.Audience) {
		return nil, tenancy.NotValid("has another issuer or another audience")
	}
	return claims, nil
}
