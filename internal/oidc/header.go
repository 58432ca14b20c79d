package oidc

import (
	"errors"
	"slices"
	"strings"
)

// types are the accepted values for the header `typ`: the types for ID tokens and access tokens (RFC 9068). An issuer also signs other tokens, such
// as logout tokens, with the same keys and for the same audience. Their type distinguishes them (RFC 8725, section 3.11).
var types = []string{"jwt", "at+jwt"}

// logoutEvent is the event that identifies a logout token. Such a token may have no `typ` (OpenID Connect Back-Channel Logout 1.0, section 2.4).
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// checkHeader returns an error if a token's header is not acceptable. The library reads the header only to verify the signature.
func checkHeader(token string) error {
	first, _, _ := strings.Cut(token, ".")
	header, err := decode[map[string]any](first)
	if err != nil {
		return errors.New("has a header that cannot be read")
	}
	folded := map[string]bool{}
	for name := range header {
		if name = strings.ToLower(name); folded[name] { // parsers differ on whether case matters
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
		if _, out := events[logoutEvent]; out {
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
