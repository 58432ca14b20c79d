package tenancy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The token of an API key is carve_<id>_<secret>: the key's id as 32 hexadecimal digits, and 256 random bits in lower-case base32 without padding.
// The id finds the key; the secret proves that the caller has it.
const (
	tokenPrefix  = "carve_"
	idDigits     = 32
	secretDigits = 52
	tokenLength  = len(tokenPrefix) + idDigits + len("_") + secretDigits
)

var tokenAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Secret is the confidential part of a token. It prints as a placeholder, to keep it out of logs.
type Secret [32]byte

// String implements fmt.Stringer.
func (Secret) String() string { return "[secret]" }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return "[secret]" }

// NewToken makes a token for the key with an id, and its secret.
func NewToken(id ipam.ID) (token string, secret Secret) {
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never fails; it aborts the process instead (Go 1.24).
	return tokenPrefix + hex.EncodeToString(id[:]) + "_" + tokenAlphabet.EncodeToString(secret[:]), secret
}

// ParseToken splits a token. It accepts only tokens that NewToken could have made, so each token has one spelling. It checks the length first.
func ParseToken(token string) (id ipam.ID, secret Secret, ok bool) {
	if len(token) != tokenLength || token[:len(tokenPrefix)] != tokenPrefix || token[len(tokenPrefix)+idDigits] != '_' {
		return ipam.ID{}, Secret{}, false
	}
	// Arrays avoid allocations: every request has a token.
	var digits, sameDigits [idDigits]byte
	copy(digits[:], token[len(tokenPrefix):])
	if _, err := hex.Decode(id[:], digits[:]); err != nil {
		return ipam.ID{}, Secret{}, false
	}
	var word, sameWord [secretDigits]byte
	copy(word[:], token[tokenLength-secretDigits:])
	var raw [len(secret) + 1]byte // 52 digits are 32 bytes and 4 bits, which must be zero
	n, err := tokenAlphabet.Decode(raw[:], word[:])
	if err != nil || n != len(secret) {
		return ipam.ID{}, Secret{}, false
	}
	copy(secret[:], raw[:])
	hex.Encode(sameDigits[:], id[:])
	tokenAlphabet.Encode(sameWord[:], secret[:])
	if sameDigits != digits || sameWord != word {
		return ipam.ID{}, Secret{}, false
	}
	return id, secret, true
}

// HashSecret returns the hash of a secret for the database: its SHA-256. A secret with 256 random bits cannot be guessed, so no slow hash is
// necessary.
func HashSecret(secret Secret) []byte {
	sum := sha256.Sum256(secret[:])
	return sum[:]
}
