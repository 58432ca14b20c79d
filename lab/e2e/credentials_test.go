package e2e

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wrong credentials get the same response whatever their fault. It does not distinguish an unknown key, a wrong secret, an expired key and a revoked
// key.
func TestInvalidCredentialsGetTheSameResponse(t *testing.T) {
	t.Parallel()
	w, log := setupLogged(t)
	w.newProject(t, project)
	good := w.newKey(t, project, "good", "admin")
	revoked := w.newKey(t, project, "revoked", "admin")
	require.Equal(t, http.StatusOK, w.as(revoked).do(t, http.MethodGet, "/v1/whoami", nil).status)
	w.deleted(t, w.do(t, http.MethodDelete, at("api-keys", "revoked"), nil))
	heededWithin(t, func() bool {
		return w.as(revoked).do(t, http.MethodGet, "/v1/whoami", nil).status == http.StatusUnauthorized
	})
	id, secret := good[:len(good)-52], good[len(good)-52:]
	send := func(values ...string) answer {
		var options []option
		for _, v := range values {
			options = append(options, header("Authorization", v))
		}
		return w.as("").do(t, http.MethodGet, "/v1/projects/"+project, nil, append(options, probe)...)
	}
	w.ok(t, send("Bearer "+good))
	w.ok(t, send("bearer "+good)) // the case of a scheme does not matter (RFC 9110, section 11.1)
	none, first := send(), send("Bearer carve_"+strings.Repeat("0", 32)+"_"+strings.Repeat("a", 52))
	for _, a := range []answer{none, first} {
		w.refused(t, a, "unauthenticated")
		require.Contains(t, a.header.Get("WWW-Authenticate"), "Bearer")
	}
	for what, values := range map[string][]string{
		"empty":                      {""},
		"a scheme alone":             {"Bearer"},
		"a scheme and a space":       {"Bearer "},
		"a token alone":              {good},
		"another scheme":             {"Basic " + good},
		"basic":                      {"Basic cm9vdDpyb290"},
		"two spaces within":          {"Bearer " + id + " " + secret},
		"two headers":                {"Bearer " + good, "Bearer " + good},
		"two headers, the first bad": {"Bearer x", "Bearer " + good},
		"a list":                     {"Bearer " + good + ", Bearer " + good},
		"upper case":                 {"Bearer " + strings.ToUpper(good)},
		"upper case id":              {"Bearer carve_" + strings.ToUpper(good[6:38]) + good[38:]},
		"upper case secret":          {"Bearer " + id + strings.ToUpper(secret)},
		"cut":                        {"Bearer " + good[:len(good)-1]},
		"longer":                     {"Bearer " + good + "a"},
		"the id alone":               {"Bearer " + id},
		"the secret alone":           {"Bearer " + secret},
		"another secret":             {"Bearer " + id + strings.Repeat("a", 52)},
		"another id":                 {"Bearer carve_" + strings.Repeat("0", 32) + "_" + secret},
		"padding":                    {"Bearer " + good + "===="},
		"the last digit's spare bit": {"Bearer " + good[:len(good)-1] + sibling(good[len(good)-1])},
		"revoked":                    {"Bearer " + revoked},
		"huge":                       {"Bearer " + strings.Repeat("a", 20_000)},
		"a JWT of nobody":            {"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0."},
		"bytes":                      {"Bearer \xff\xfe"},
		"a quote":                    {`Bearer "` + good + `"`},
	} {
		a := send(values...)
		if bytes.Equal(a.body, none.body) {
			continue // a request without any credentials gets an additional hint
		}
		require.Equal(t, whole(first), whole(a), what)
	}
	t.Run("CredentialsInOtherPlacesAreIgnored", func(t *testing.T) {
		w.refused(t, w.as("").do(t, http.MethodGet, "/v1/projects/"+project, nil, header("Cookie", "Authorization=Bearer "+good), header("X-Api-Key", good)), "unauthenticated")
		w.refused(t, w.as("").do(t, http.MethodGet, "/v1/projects/"+project+"?access_token="+good, nil), "unauthenticated")
	})
	t.Run("TheLogContainsNoCredentials", func(t *testing.T) {
		require.Contains(t, log.String(), "unauthenticated", "the attempts are")
		for _, secret := range []string{secret, revoked[len(revoked)-52:], strings.ToUpper(secret), "cm9vdDpyb290", "eyJhbGciOiJub25lIn0", strings.Repeat("a", 52)} {
			require.NotContains(t, log.String(), secret)
		}
	})
	t.Run("TheContractAndTheDocumentationNeedNoCredentials", func(t *testing.T) {
		for _, path := range []string{"/openapi.yaml", "/openapi.json", "/docs/", "/problems/overlap", "/healthz", "/readyz"} {
			require.Equal(t, http.StatusOK, w.as("").do(t, http.MethodGet, path, nil).status, path)
		}
	})
}

// sibling returns a base32 digit that differs only in the last bit. If it is the last digit of 256 bits, that bit carries no information.
func sibling(digit byte) string {
	const digits = "abcdefghijklmnopqrstuvwxyz234567"
	return string(digits[strings.IndexByte(digits, digit)^1])
}

// keepsSecrets requires that no row of the database contains the secret of a key, in any encoding.
func (m *matrix) keepsSecrets(t testing.TB) {
	t.Helper()
	tokens := []string{m.stranger.token}
	for _, c := range m.by[m.names["project"]] { // the other project has been deleted
		tokens = append(tokens, c.token)
	}
	m.holdsNoSecret(t, tokens...)
}

// holdsNoSecret requires that no row of any table contains the secret of a token.
func (w *world) holdsNoSecret(t testing.TB, tokens ...string) {
	t.Helper()
	dump := w.dump(t)
	found := 0
	for _, token := range tokens {
		text := token[len(token)-52:]
		raw, err := base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding).DecodeString(text)
		require.NoError(t, err)
		id := token[6:38]
		for table, rows := range dump {
			for _, row := range rows {
				for _, secret := range []string{text, string(raw), hex.EncodeToString(raw), strings.ToUpper(text)} {
					require.NotContains(t, row, secret, "a row of %s", table)
				}
				if table == "api_keys" && strings.Contains(strings.ReplaceAll(row, "-", ""), id) {
					found++
				}
			}
		}
	}
	require.Equal(t, len(tokens), found, "each key is there, so what was looked through is what there is")
}
