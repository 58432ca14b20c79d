package tenancy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// A token of an API key is carve_<id>_<secret>: the key's id as 32 hexadecimal digits, and 256 random bits in lower-case
// base32 without padding. The id finds the key; the secret proves that the caller was given it.
const (
	tokenPrefix  = "carve_"
	idDigits     = 32
	secretDigits = 52
	tokenLength  = len(tokenPrefix) + idDigits + len("_") + secretDigits
)

var tokenAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Secret is the part of a token that nobody else may know. It prints as nothing of use, so that it cannot get into a log.
type Secret [32]byte

// String implements fmt.Stringer.
func (Secret) String() string { return "[secret]" }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return "[secret]" }

// NewToken makes a token for the key of an id, with its secret.
func NewToken(id ipam.ID) (token string, secret Secret) {
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never fails; it aborts the process instead (Go 1.24).
	return tokenPrefix + hex.EncodeToString(id[:]) + "_" + tokenAlphabet.EncodeToString(secret[:]), secret
}

// ParseToken takes a token apart. Only what NewToken could have made is one: each token has one spelling. What has another
// length is refused before it is looked at.
func ParseToken(token string) (id ipam.ID, secret Secret, ok bool) {
	if len(token) != tokenLength || token[:len(tokenPrefix)] != tokenPrefix || token[len(tokenPrefix)+idDigits] != '_' {
		return ipam.ID{}, Secret{}, false
	}
	digits, word := token[len(tokenPrefix):len(tokenPrefix)+idDigits], token[tokenLength-secretDigits:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil || hex.EncodeToString(id[:]) != digits {
		return ipam.ID{}, Secret{}, false
	}
	raw, err := tokenAlphabet.DecodeString(word)
	if err != nil || len(raw) != len(secret) || tokenAlphabet.EncodeToString(raw) != word {
		return ipam.ID{}, Secret{}, false
	}
	return id, Secret(raw), true
}

// HashSecret is what is stored of a secret: its SHA-256. A secret of 256 random bits needs no slow hash, because it cannot be
// guessed.
func HashSecret(secret Secret) []byte {
	sum := sha256.Sum256(secret[:])
	return sum[:]
}
