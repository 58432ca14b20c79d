package oidc

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// maxToken is the longest token that is looked at.
const maxToken = 16 << 10

// Members answers the roles that a subject holds as a member, by project.
type Members interface {
	MemberRoles(ctx context.Context, subject string) (map[string]tenancy.Held, error)
}

// Options of a Verifier. Members must be set.
type Options struct {
	Members Members
	Clock   func() time.Time // nil: the system clock
	Log     *slog.Logger     // nil: nothing is logged

	transport http.RoundTripper // nil: the network
}

// Verifier authenticates the tokens of all configured issuers.
type Verifier struct {
	issuers map[string]*issuer // by URL
	members Members
	clock   func() time.Time
}

// issuer is one of them.
type issuer struct {
	Issuer

	algorithms []jose.SignatureAlgorithm
	rules      []rule
	keys       *keySet
	mark       ipam.ID // of what gives roles, and of whose tokens
	signIn     *SignIn // nil: nobody signs in there
}

// New makes a Verifier. It asks no issuer anything yet.
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

// Authenticate answers whose token it is: unauthenticated when it is not valid, unavailable when its issuer has to be asked and does
// not answer.
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

// read answers whose a token of an issuer is, and what else it says.
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

// compact reports whether a token is in compact form: the JSON forms of a signature have no place in a header.
func compact(token string) bool {
	for i := range len(token) {
		c := token[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return strings.Count(token, ".") == 2
}

// verify answers the claims of a token whose signature, issuer and audience are right. Its times are not looked at.
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
	payload, err := is.check(ctx, token, candidates)
	if err != nil && id == "" {
		// It names no key, so only now is it known that its key is not among those that were read.
		if candidates, err = is.keys.refresh(ctx, id); err != nil {
			return nil, err
		}
		payload, err = is.check(ctx, token, candidates)
	}
	if err != nil {
		return nil, tenancy.NotValid("was refused: " + err.Error())
	}
	if err := readOneWay(payload); err != nil {
		return nil, tenancy.NotValid("has claims in JSON that " + err.Error())
	}
	claims, err := decode(payload)
	if err != nil {
		return nil, tenancy.NotValid("has claims that cannot be read")
	}
	// The library reads `ISS` and `AUD` as well as `iss` and `aud`; a claim of a name that a user chose must not stand for another.
	if claims["iss"] != is.URL || !slices.Contains(texts(claims["aud"]), is.Audience) {
		return nil, tenancy.NotValid("has another issuer or another audience")
	}
	return claims, nil
}

func (is *issuer) check(ctx context.Context, token string, candidates []jose.JSONWebKey) ([]byte, error) {
	verified, err := oidc.NewVerifier(is.URL, keys{candidates, is.algorithms}, &oidc.Config{
		ClientID: is.Audience, SupportedSigningAlgs: is.Algorithms,
		SkipExpiryCheck: true, // checkTimes is stricter: it knows the configured skew, and `nbf` without five minutes of grace
	}).Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	var payload rawClaims
	err = verified.Claims(&payload)
	return payload, err
}

// rawClaims takes claims as they were signed.
type rawClaims []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawClaims) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}
