package oidc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
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

// unescape decodes a token of a JSON pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// texts returns the strings of a claim. The claim may be a string or a list with strings. For any other type, texts returns nil.
func texts(claim any) []string {
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

// decode parses claims. It keeps numbers as they are written.
func decode(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var claims map[string]any
	err := d.Decode(&claims)
	return claims, err
}

// unverifiedIssuer reads the claim `iss` of a token that is not verified yet. Use the result only to select the issuer that verifies the token.
func unverifiedIssuer(token string) (string, error) {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	data, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return "", err
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	err = json.Unmarshal(data, &claims)
	return claims.Issuer, err
}

// checkTimes returns an error before the token's `nbf` and after its `exp`. It also returns an error if there is no `exp`, because the token would
// never expire.
func checkTimes(claims map[string]any, now time.Time, skew time.Duration) error {
	at := func(name string) (seconds float64, given bool, err error) {
		v, given := claims[name]
		if !given || v == nil {
			return 0, false, nil
		}
		n, ok := v.(json.Number)
		if !ok {
			return 0, true, errors.New("has a time that is not a number: " + name)
		}
		seconds, err = n.Float64()
		return seconds, true, err
	}
	expires, given, err := at("exp")
	switch {
	case err != nil:
		return err
	case !given:
		return errors.New("never expires")
	case expires <= seconds(now.Add(-skew)):
		return errors.New("has expired")
	}
	begins, given, err := at("nbf")
	switch {
	case err != nil:
		return err
	case given && begins > seconds(now.Add(skew)):
		return errors.New("is not valid yet")
	}
	return nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
