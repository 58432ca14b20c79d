package oidc

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// find returns the claim with a name, or the value at a JSON pointer into the claims. It returns nil if there is none. A dot in a name does not
// separate names, because names with dots are common (https://example.com/roles).
func find(claims map[string]any, path string) any {
	if !strings.HasPrefix(path, "/") {
		return claims[path]
	}
	var at any = claims
	for name := range strings.SplitSeq(path[1:], "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[unescape.Replace(name)]
	}
	return at
}

// unescape decodes a JSON pointer's token (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// stringsOf returns a claim's strings. The claim may be a string or a list of strings. For a claim of any other type, stringsOf returns nil.
func stringsOf(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	default:
		return nil
	}
}

// decode decodes a part of a token, which is a JSON object in base64. Parsers differ on the value of a repeated name, so the library refuses an
// object that repeats a name.
func decode[T any](part string) (out T, err error) {
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(data, &out)
	return out, err
}

// unverifiedIssuer reads the claim `iss` from a token that is not verified yet. Use the result only to select the issuer that verifies the token.
func unverifiedIssuer(token string) (string, error) {
	claims, err := decode[struct {
		Issuer string `json:"iss"`
	}](strings.Split(token, ".")[1])
	return claims.Issuer, err
}

// checkTimes returns an error before the token's `nbf` and after its `exp`. It also returns an error if there is no `exp`, because the token would
// never expire.
func checkTimes(claims map[string]any, now time.Time, skew time.Duration) error {
	expires, known := claims["exp"].(float64)
	begins, delayed := claims["nbf"].(float64)
	switch {
	case !known:
		return errors.New("never expires, or has an expiry that is not a number")
	case claims["nbf"] != nil && !delayed:
		return errors.New("has a beginning that is not a number")
	case expires <= seconds(now.Add(-skew)):
		return errors.New("has expired")
	case begins > seconds(now.Add(skew)):
		return errors.New("is not valid yet")
	}
	return nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
