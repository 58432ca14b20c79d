package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// The bounds of what an issuer publishes.
const (
	maxKeys      = 100
	smallestRSA  = 2048 // bits; NIST SP 800-131A
	maxDocuments = 1 << 20
)

// keys are the public keys with which one token may be signed. They are an oidc.KeySet of their own: verifying is then
// arithmetic, without any waiting.
type keys struct {
	candidates []jose.JSONWebKey
	algorithms []jose.SignatureAlgorithm
}

// VerifySignature implements oidc.KeySet. The token is in compact form and says with which algorithm it is signed; both
// has been checked.
func (k keys) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, k.algorithms)
	if err != nil {
		return nil, err
	}
	for _, key := range k.candidates {
		if key.Algorithm != "" && key.Algorithm != signed.Signatures[0].Header.Algorithm {
			continue
		}
		if payload, err := signed.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no published key matches this signature")
}

// parseKeys reads a JSON Web Key Set. What is not a public key for signatures is left out: an issuer may publish more than
// we know, but nothing that it publishes may become a shared secret.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, errors.New("the issuer publishes too many keys")
	}
	var out []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(raw); err == nil && usable(key) {
			out = append(out, key)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the issuer publishes no usable key")
	}
	return out, nil
}

func usable(key jose.JSONWebKey) bool {
	if !key.Valid() || key.Use != "" && key.Use != "sig" || key.Algorithm != "" && !slices.Contains(asymmetric, key.Algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= smallestRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	default:
		return false
	}
}

// named answers the keys of an id; all of them for a token that names none.
func named(all []jose.JSONWebKey, id string) []jose.JSONWebKey {
	if id == "" {
		return all
	}
	var out []jose.JSONWebKey
	for _, key := range all {
		if key.KeyID == id {
			out = append(out, key)
		}
	}
	return out
}
