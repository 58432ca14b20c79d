package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// purpose separates the secrets of webhooks from other values that are derived from the same key.
const purpose = "carve webhook secret 1\x00"

// urlPurpose separates the fingerprints of URLs from other values that are derived from the same key.
const urlPurpose = "carve webhook url 1\x00"

// Fingerprint distinguishes the URLs that a webhook has had. Only the server's key makes it possible to check whether a guessed URL has a
// fingerprint.
func Fingerprint(key []byte, id ipam.ID, url string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(urlPurpose))
	h.Write(id[:])
	h.Write([]byte(url))
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// Secret derives the secret of a webhook from the server's key, so the database does not store the secret. It has the form that Standard Webhooks
// defines: 32 bytes in base64.
func Secret(key []byte, id ipam.ID) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	h.Write(id[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
