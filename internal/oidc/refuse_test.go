package oidc

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// at returns the value of a time claim: the current time plus the given duration.
func at(by time.Duration) any { return time.Now().Add(by).Unix() }

// unsigned returns a token with any header and any signature.
func unsigned(t *testing.T, header map[string]any, claims, signature string) string {
	t.Helper()
	h, err := json.Marshal(header)
	require.NoError(t, err)
	b := base64.RawURLEncoding.EncodeToString
	return b(h) + "." + b([]byte(claims)) + "." + b([]byte(signature))
}

// hs256 returns a token that is signed with a shared secret.
func hs256(t *testing.T, id string, secret []byte, claims string) string {
	t.Helper()
	body, _, _ := strings.Cut(unsigned(t, map[string]any{"alg": "HS256", "kid": id}, claims, "x"), ".eA")
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(body))
	return body + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestInvalidTokensAreRefused(t *testing.T) {
	t.Parallel()
	key, stranger := signer{"one", "RS256", rsaKey()}, elliptical("one")
	p := startProvider(t, key)
	v := verifier(t, nil, p.conf("corp"))
	good := p.token(key, nil)
	der, err := x509.MarshalPKIXPublicKey(rsaKey().Public())
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	parts := strings.Split(good, ".")

	for name, tc := range map[string]struct{ good, bad string }{
		"Expired":                   {p.token(key, map[string]any{"exp": at(time.Hour)}), p.token(key, map[string]any{"exp": at(-time.Minute)})},
		"AudienceOfAnotherSpelling": {p.token(key, map[string]any{"aud": []string{"other", audience}}), p.token(key, map[string]any{"aud": "other", "AUD": audience})},
		"IssuerOfAnotherSpelling":   {p.token(key, map[string]any{"ISS": "https://other"}), p.token(key, map[string]any{"iss": "https://other", "ISS": p.url})},
		"ForEver":                   {good, p.token(key, map[string]any{"exp": nil})},
		"ExpiryAsText":              {good, p.token(key, map[string]any{"exp": "tomorrow"})},
		"NotYetValid":               {p.token(key, map[string]any{"nbf": at(-time.Minute)}), p.token(key, map[string]any{"nbf": at(time.Hour)})},
		"BeginningAsText":           {p.token(key, map[string]any{"nbf": at(-time.Minute)}), p.token(key, map[string]any{"nbf": "tomorrow"})},
		"AnotherAudience":           {p.token(key, map[string]any{"aud": []string{"x", audience}}), p.token(key, map[string]any{"aud": []string{"x", "y"}})},
		"NoAudience":                {good, p.token(key, map[string]any{"aud": nil})},
		"AnotherIssuer":             {good, p.token(key, map[string]any{"iss": "https://issuer.example"})},
		"NoAlgorithm":               {good, unsigned(t, map[string]any{"alg": "none"}, p.claims(nil), "")},
		"NoneWithSignature":         {good, unsigned(t, map[string]any{"alg": "none", "kid": "one"}, p.claims(nil), "x")},
		"NoneInOtherCase":           {good, unsigned(t, map[string]any{"alg": "nOnE", "kid": "one"}, p.claims(nil), "x")},
		"PublicKeyAsSecret":         {good, hs256(t, "one", public, p.claims(nil))},
		"PublicKeyInDER":            {good, hs256(t, "one", der, p.claims(nil))},
		"AlgorithmNotAllowed":       {good, oidctest.SignIDToken(rsaKey(), "one", "PS256", p.claims(nil))},
		"AnotherKey":                {good, p.token(stranger, nil)},
		"UnknownKey":                {good, p.token(signer{"two", "RS256", rsaKey()}, nil)},
		"KeyIDThatIsAPath":          {good, p.token(signer{"../../dev/null", "RS256", rsaKey()}, nil)},
		"KeyIDThatIsAURL":           {good, p.token(signer{p.url + "/keys#one", "RS256", rsaKey()}, nil)},
		"ChangedClaims":             {good, parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(p.claims(map[string]any{"sub": "root"}))) + "." + parts[2]},
		"Truncated":                 {good, good[:len(good)-20]},
		"WithoutSignature":          {good, parts[0] + "." + parts[1] + "."},
		"TwoParts":                  {good, parts[0] + "." + parts[1]},
		"FourParts":                 {good, good + ".x"},
		"NotBase64":                 {good, strings.Replace(good, ".", ".!", 1)},
		"NotJSON":                   {good, unsigned(t, map[string]any{"alg": "RS256"}, "hello", "x")},
		"Empty":                     {good, ""},
		"JSONForm":                  {good, `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`},
		"Oversized": {
			p.token(key, map[string]any{"pad": strings.Repeat("x", 8<<10)}),
			p.token(key, map[string]any{"pad": strings.Repeat("x", 16<<10)}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Authenticate(t.Context(), tc.good)
			require.NoError(t, err, "the control")
			who, err := v.Authenticate(t.Context(), tc.bad)
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), err)
			require.Zero(t, who)
			e := &ipam.Error{}
			require.ErrorAs(t, err, &e)
			require.Equal(t, "The credentials in the header Authorization are not valid.", e.Message)
		})
	}
}

func TestKeysEmbeddedInATokenAreIgnored(t *testing.T) {
	t.Parallel()
	ours, theirs := elliptical("one"), elliptical("one")
	p := startProvider(t, ours)
	v := verifier(t, nil, p.conf("corp"))
	attacker := startProvider(t, theirs)
	bring := func(by signer, headers map[jose.HeaderKey]any, embed bool) string {
		o := &jose.SignerOptions{ExtraHeaders: headers, EmbedJWK: embed}
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: by.private}, o)
		require.NoError(t, err)
		signed, err := s.Sign([]byte(p.claims(nil)))
		require.NoError(t, err)
		token, err := signed.CompactSerialize()
		require.NoError(t, err)
		return token
	}
	for name, tc := range map[string]struct {
		headers map[jose.HeaderKey]any
		embed   bool
	}{
		"jwk":         {nil, true},
		"jku":         {map[jose.HeaderKey]any{"jku": attacker.url + "/keys", "kid": "one"}, false},
		"x5u":         {map[jose.HeaderKey]any{"x5u": attacker.url + "/keys", "kid": "one"}, false},
		"WithoutAnID": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Authenticate(t.Context(), bring(ours, tc.headers, tc.embed))
			require.NoError(t, err, "the control: signed by the issuer, the header is only ignored")
			_, err = v.Authenticate(t.Context(), bring(theirs, tc.headers, tc.embed))
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), err)
		})
	}
	t.Cleanup(func() { require.Zero(t, attacker.fetches.Load()) })
}

func TestUnsuitablePublishedKeysAreIgnored(t *testing.T) {
	t.Parallel()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	good := elliptical("good")
	private, ok := good.private.(*ecdsa.PrivateKey)
	require.True(t, ok)
	set := func(keys ...jose.JSONWebKey) []byte {
		data, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
		require.NoError(t, err)
		return data
	}
	fine := jose.JSONWebKey{Key: private.Public(), KeyID: "good", Algorithm: "ES256", Use: "sig"}
	found, err := parseKeys(set(fine))
	require.NoError(t, err, "the control")
	require.Len(t, found, 1)

	for name, bad := range map[string]jose.JSONWebKey{
		"Symmetric":     {Key: []byte("a secret of at least 32 bytes....."), KeyID: "bad", Algorithm: "HS256", Use: "sig"},
		"Private":       {Key: private, KeyID: "bad", Use: "sig"},
		"ForEncryption": {Key: private.Public(), KeyID: "bad", Use: "enc"},
		"ShortRSA":      {Key: short.Public(), KeyID: "bad", Use: "sig"},
		"NoneAlgorithm": {Key: private.Public(), KeyID: "bad", Algorithm: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := parseKeys(set(bad, fine))
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, "good", found[0].KeyID)
			_, err = parseKeys(set(bad))
			require.Error(t, err)
		})
	}
	t.Run("UnknownKeyTypes", func(t *testing.T) {
		t.Parallel()
		found, err := parseKeys([]byte(`{"keys": [{"kty": "OKP", "crv": "Ed448", "x": "AAAA"}, ` + strings.TrimPrefix(string(set(fine)), `{"keys":[`)))
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
	t.Run("TooManyKeys", func(t *testing.T) {
		t.Parallel()
		many := make([]jose.JSONWebKey, maxKeys+1)
		for i := range many {
			many[i] = fine
		}
		_, err := parseKeys(set(many...))
		require.Error(t, err)
	})
}

func TestEmailIsASubjectOnlyIfVerified(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := startProvider(t, key)
	conf := p.conf("corp")
	conf.SubjectClaim = "email"
	v := verifier(t, nil, conf)
	token := func(claims map[string]any) string {
		claims["email"] = "alice@example.com"
		return p.token(key, claims)
	}
	who, err := v.Authenticate(t.Context(), token(map[string]any{"email_verified": true}))
	require.NoError(t, err)
	require.Equal(t, "corp:alice@example.com", who.Subject)
	for _, verified := range []any{false, "true", nil} {
		_, err := v.Authenticate(t.Context(), token(map[string]any{"email_verified": verified}))
		require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), "%v", verified)
	}
}
