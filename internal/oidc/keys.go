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

// Limits of an issuer's keys and documents.
const (
	maxKeys      = 100
	smallestRSA  = 2048 // bits; NIST SP 800-131A
	maxDocuments = 1 << 20
)

// keys are the public keys that may have signed one token. They implement oidc.KeySet, so that the library verifies a signature with them and fetches
// no keys.
type keys struct {
	candidates []jose.JSONWebKey
	algorithms []jose.SignatureAlgorithm
}

// VerifySignature implements oidc.KeySet. The caller must have checked that the token has the compact form and an allowed algorithm.
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

// parseKeys reads a JSON Web Key Set. It returns only public keys for signatures. An issuer may publish other keys, but no published key may serve as
// a shared secret.
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

// named returns the keys with the given id. If id is empty, it returns all keys.
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
