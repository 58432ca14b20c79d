package tenancy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// An API key's token is carve_<id>_<secret>. The id is the key's id as 32 hexadecimal digits. The secret is 256 random bits in lower-case base32
// without padding. The server finds the key by its id, and the secret proves that the caller has the key.
const (
	tokenPrefix  = "carve_"
	idDigits     = 32
	secretDigits = 52
	tokenLength  = len(tokenPrefix) + idDigits + len("_") + secretDigits
)

var tokenAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Secret is a token's confidential part. It prints as a placeholder, so that no log contains it.
type Secret [32]byte

// String implements fmt.Stringer.
func (Secret) String() string { return "[secret]" }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return "[secret]" }

// NewToken returns a token for the key with the given id, and the secret in the token.
func NewToken(id ipam.ID) (token string, secret Secret) {
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never fails; it aborts the process instead (Go 1.24).
	return tokenPrefix + hex.EncodeToString(id[:]) + "_" + tokenAlphabet.EncodeToString(secret[:]), secret
}

// ParseToken splits a token. It accepts only a token that NewToken could have returned, so that two different tokens never have the same id and
// secret.
func ParseToken(token string) (id ipam.ID, secret Secret, ok bool) {
	if len(token) != tokenLength || token[:len(tokenPrefix)] != tokenPrefix || token[len(tokenPrefix)+idDigits] != '_' {
		return id, secret, false
	}
	// Arrays avoid allocations, because every request has a token.
	var digits, sameDigits [idDigits]byte
	copy(digits[:], token[len(tokenPrefix):])
	if _, err := hex.Decode(id[:], digits[:]); err != nil {
		return ipam.ID{}, Secret{}, false
	}
	var word, sameWord [secretDigits]byte
	copy(word[:], token[tokenLength-secretDigits:])
	var raw [len(secret) + 1]byte // 52 digits are 32 bytes and 4 more bits, which must be zero
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

// HashSecret returns a secret's hash for the database, a SHA-256. A slow hash is not necessary, because nobody can guess 256 random bits.
func HashSecret(secret Secret) []byte {
	sum := sha256.Sum256(secret[:])
	return sum[:]
}
