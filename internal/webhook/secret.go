package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"github.com/carve-ipam/carve/internal/ipam"
)

// purpose separates webhook secrets from other values that are derived from the same key.
const purpose = "carve webhook secret 1\x00"

// urlPurpose does the same for URL fingerprints.
const urlPurpose = "carve webhook url 1\x00"

// Fingerprint distinguishes the URLs that a webhook has had. Without the server's key, nobody can check whether a guessed URL has a fingerprint.
func Fingerprint(key []byte, id ipam.ID, url string) string {
	return hex.EncodeToString(derive(key, urlPurpose, id, url)[:6])
}

// Secret derives a webhook's secret from the server's key, so the database does not store the secret. The secret has the form that Standard Webhooks
// defines: 32 bytes in base64.
func Secret(key []byte, id ipam.ID) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(derive(key, purpose, id, ""))
}

func derive(key []byte, purpose string, id ipam.ID, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + string(id[:]) + text))
	return h.Sum(nil)
}
