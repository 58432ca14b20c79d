package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// purpose separates webhook secrets from other values derived from the same key.
const purpose = "carve webhook secret 1\x00"

// urlPurpose separates fingerprints of URLs.
const urlPurpose = "carve webhook url 1\x00"

// Fingerprint distinguishes the URLs that a webhook has had. Checking a guessed URL against it requires the server's key.
func Fingerprint(key []byte, id ipam.ID, url string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(urlPurpose))
	h.Write(id[:])
	h.Write([]byte(url))
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// Secret derives a webhook's secret from the server's key; the database does not store it. It has the form of Standard Webhooks, 32 bytes in base64.
func Secret(key []byte, id ipam.ID) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	h.Write(id[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
