package oidc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// types are the accepted values of the header `typ`: the types of ID tokens and access tokens (RFC 9068). An issuer also signs other tokens, such as
// logout tokens, with the same keys and for the same audience. Their type distinguishes them (RFC 8725, section 3.11).
var types = []string{"jwt", "at+jwt"}

// logout is the event that identifies a logout token. Such a token may have no `typ` (OpenID Connect Back-Channel Logout 1.0, section 2.4).
const logout = "http://schemas.openid.net/event/backchannel-logout"

// checkHeader returns an error if the header of a token is not acceptable. The library reads the header only to verify the signature.
func checkHeader(token string) error {
	first, _, _ := strings.Cut(token, ".")
	data, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return errors.New("has a header that cannot be read")
	}
	if err := readOneWay(data); err != nil {
		return fmt.Errorf("has a header that %w", err)
	}
	header, err := decode(data)
	if err != nil {
		return errors.New("has a header that cannot be read")
	}
	folded := map[string]bool{}
	for name := range header {
		if name = strings.ToLower(name); folded[name] { // readers of JSON differ on whether case matters
			return errors.New("has a header with one name in two spellings")
		}
		folded[name] = true
	}
	if _, given := header["crit"]; given { // RFC 7515, section 4.1.11: crit is never empty, and the server supports no extension
		return errors.New("has a header with critical extensions")
	}
	kind, given := header["typ"]
	if !given {
		return nil
	}
	text, _ := kind.(string)
	if !slices.Contains(types, strings.TrimPrefix(strings.ToLower(text), "application/")) {
		return errors.New("has a type that does not identify a caller")
	}
	return nil
}

// checkPurpose returns an error if the claims show that the token is for another purpose or another client.
func (is *issuer) checkPurpose(claims map[string]any) error {
	if events, ok := claims["events"].(map[string]any); ok {
		if _, out := events[logout]; out {
			return errors.New("is a logout token")
		}
	}
	if len(is.AuthorizedParties) == 0 {
		return nil
	}
	if party, _ := claims["azp"].(string); !slices.Contains(is.AuthorizedParties, party) {
		return errors.New("was issued for a client that is not configured")
	}
	return nil
}

// readOneWay returns an error if an object in the JSON repeats a name, because readers differ on which value counts.
func readOneWay(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []map[string]bool // names of each open object; nil for a list
	name := false              // the next text is a name
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New("cannot be read")
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		switch text, isText := token.(string); {
		case token == json.Delim('{'):
			open, name = append(open, map[string]bool{}), true
			continue
		case token == json.Delim('['):
			open, name = append(open, nil), false
			continue
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:len(open)-1]
		case isText && inObject && name:
			if open[len(open)-1][text] {
				return errors.New("has a name twice")
			}
			open[len(open)-1][text], name = true, false
			continue
		}
		name = len(open) > 0 && open[len(open)-1] != nil // a value has ended
	}
}
