package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/tenancy"
)

const audience = "carve"

// signer is one signing key of an issuer.
type signer struct {
	id, alg string
	private crypto.Signer
}

func elliptical(id string) signer {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return signer{id, "ES256", private}
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return private
})

// provider is a complete OpenID Connect issuer on loopback.
type provider struct {
	url     string
	now     atomic.Pointer[oidctest.Server]
	fetches atomic.Int64 // number of fetches of keys
	down    atomic.Bool
}

func startProvider(t *testing.T, published ...signer) *provider {
	t.Helper()
	p := &provider{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	p.publish(published...)
	return p
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/keys" {
		p.fetches.Add(1)
	}
	if p.down.Load() {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	p.now.Load().ServeHTTP(w, r)
}

// publish replaces the keys of the issuer.
func (p *provider) publish(published ...signer) {
	s := &oidctest.Server{}
	for _, k := range published {
		s.PublicKeys = append(s.PublicKeys, oidctest.PublicKey{PublicKey: k.private.Public(), KeyID: k.id, Algorithm: k.alg})
	}
	s.SetIssuer(p.url)
	p.now.Store(s)
}

// claims returns the claims of a valid token, with changes. A nil value removes a claim.
func (p *provider) claims(change map[string]any) string {
	c := map[string]any{"iss": p.url, "aud": audience, "sub": "alice@example.com", "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// token signs the claims of a valid token, with changes.
func (p *provider) token(by signer, change map[string]any) string {
	return oidctest.SignIDToken(by.private, by.id, by.alg, p.claims(change))
}

// conf returns a configuration of the issuer.
func (p *provider) conf(name string, rules ...Rule) Issuer {
	return Issuer{Name: name, URL: p.url, Audience: audience, Roles: rules}
}

// members maps a subject to its roles as a member.
type members map[string]map[string]tenancy.Held

func (m members) MemberRoles(_ context.Context, subject string) (map[string]tenancy.Held, error) {
	return m[subject], nil
}

func verifier(t *testing.T, m members, issuers ...Issuer) *Verifier {
	t.Helper()
	v, err := New(Config{Issuers: issuers}, Options{Members: m})
	require.NoError(t, err)
	return v
}
