package oidc

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// signed returns a token with exactly this header and these claims.
func signed(t *testing.T, by signer, header, claims string) string {
	t.Helper()
	b := base64.RawURLEncoding.EncodeToString
	text := b([]byte(header)) + "." + b([]byte(claims))
	private, ok := by.private.(*ecdsa.PrivateKey)
	require.True(t, ok)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
	require.NoError(t, err)
	return text + "." + b(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// The verifier must refuse a token that its issuer has made for another purpose, and a token that two readers could parse differently.
func TestTokensForOtherPurposesAreRefused(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := startProvider(t, key)
	v := verifier(t, nil, p.conf("corp"))
	header := func(more string) string { return `{"alg":"ES256","kid":"one"` + more + `}` }
	claims := p.claims(nil)
	twice := func(name, value string) string {
		return strings.TrimSuffix(claims, "}") + fmt.Sprintf(`,%q:%s}`, name, value)
	}
	for name, good := range map[string]string{
		"Plain":       header(""),
		"JWT":         header(`,"typ":"JWT"`),
		"JWTInLower":  header(`,"typ":"jwt"`),
		"AccessToken": header(`,"typ":"at+jwt"`),
		"MediaType":   header(`,"typ":"application/at+jwt"`),
		"MoreThanOne": header(`,"x":[{"a":1},{"a":2}]`),
	} {
		t.Run("Takes"+name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Authenticate(t.Context(), signed(t, key, good, claims))
			require.NoError(t, err)
		})
	}
	for name, bad := range map[string]string{
		"LogoutToken":          signed(t, key, header(`,"typ":"logout+jwt"`), claims),
		"SecurityEvent":        signed(t, key, header(`,"typ":"secevent+jwt"`), claims),
		"ProofOfPossession":    signed(t, key, header(`,"typ":"dpop+jwt"`), claims),
		"NontextType":          signed(t, key, header(`,"typ":["JWT"]`), claims),
		"EmptyCrit":            signed(t, key, header(`,"crit":[]`), claims),
		"CritOfAPresentHeader": signed(t, key, header(`,"crit":["b64"],"b64":true`), claims),
		"NullCrit":             signed(t, key, header(`,"crit":null`), claims),
		"LogoutWithoutType":    signed(t, key, header(""), twice("events", `{"http://schemas.openid.net/event/backchannel-logout":{}}`)),
		"SubjectTwice":         signed(t, key, header(""), twice("sub", `"root"`)),
		"AudienceTwice":        signed(t, key, header(""), twice("aud", `"`+audience+`"`)),
		"ExpiryTwice":          signed(t, key, header(""), twice("exp", fmt.Sprint(time.Now().Add(time.Hour).Unix()))),
		"NameTwiceInAnObject":  signed(t, key, header(""), twice("user", `{"name":"bob","name":"root"}`)),
		"NameTwiceInAList":     signed(t, key, header(""), twice("users", `[{"name":"bob","\u006eame":"root"}]`)),
		"AlgorithmTwice":       signed(t, key, header(`,"ALG":"none"`), claims),
		"HeaderTwice":          signed(t, key, header(`,"typ":"logout+jwt","typ":"JWT"`), claims),
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Authenticate(t.Context(), bad)
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), err)
		})
	}
}

// The configuration lists authorized parties. A token for this service is refused if the issuer gave it to a client that is not in the list.
func TestAuthorizedPartyMustBeConfigured(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := startProvider(t, key)
	conf := p.conf("corp")
	conf.AuthorizedParties = []string{"console", "ci"}
	strict, open := verifier(t, nil, conf), verifier(t, nil, p.conf("corp"))
	for name, c := range map[string]struct {
		azp  any
		good bool
	}{
		"One": {"console", true}, "Another": {"ci", true}, "AStranger": {"game", false}, "Nobody": {nil, false}, "AList": {[]string{"console"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := p.token(key, map[string]any{"azp": c.azp})
			_, err := open.Authenticate(t.Context(), token)
			require.NoError(t, err, "the control")
			_, err = strict.Authenticate(t.Context(), token)
			require.Equal(t, c.good, err == nil, err)
		})
	}
}
