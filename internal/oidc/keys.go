package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Limits on an issuer's keys and documents.
const (
	maxKeys      = 100
	smallestRSA  = 2048 // bits; NIST SP 800-131A
	maxDocuments = 1 << 20
)

// verifiedPayload returns a token's payload if one key has signed it, and nil otherwise.
func verifiedPayload(token *jose.JSONWebSignature, candidates []jose.JSONWebKey) []byte {
	for _, key := range candidates {
		if key.Algorithm != "" && key.Algorithm != token.Signatures[0].Header.Algorithm {
			continue
		}
		if payload, err := token.Verify(key); err == nil {
			return payload
		}
	}
	return nil
}

// parseKeys reads a JSON Web Key Set. It returns only public keys for signatures. It ignores all other keys that an issuer publishes, because a
// published key must never serve as a shared secret.
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

// keysWithID returns the keys with the given id. If id is empty, it returns all keys.
func keysWithID(all []jose.JSONWebKey, id string) []jose.JSONWebKey {
	if id == "" {
		return all
	}
	return (&jose.JSONWebKeySet{Keys: all}).Key(id)
}
