package oidc

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestValidTokenYieldsSubjectAndRoles(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := startProvider(t, key)
	acme, lab, other := ipam.NewID(), ipam.NewID(), ipam.NewID()
	v := verifier(t, members{"corp:alice@example.com": {
		"acme": {Project: acme, Role: tenancy.Viewer}, "lab": {Project: lab, Role: tenancy.Admin}, "other": {Project: other, Role: tenancy.Consumer},
	}},
		p.conf("corp",
			Rule{Claim: "groups", Value: "netops", Project: "acme", Role: "provider"},
			Rule{Claim: "groups", Value: "netops", Project: "lab", Role: "viewer"},
			Rule{Claim: "groups", Value: "nobody", Project: "secret", Role: "admin"}))
	who, err := v.Authenticate(t.Context(), p.token(key, map[string]any{"groups": []string{"staff", "netops"}}))
	require.NoError(t, err)
	for _, p := range []ipam.ProjectKey{{ID: acme, Name: "acme"}, {ID: lab, Name: "lab"}, {ID: other, Name: "other"}} {
		// the higher of the token's role and the member's role
		want := map[string]tenancy.Role{"acme": tenancy.Provider, "lab": tenancy.Admin, "other": tenancy.Consumer}[p.Name]
		require.Equal(t, want, who.RoleByID(p))
	}
	for _, p := range []ipam.ProjectKey{{ID: ipam.NewID(), Name: "acme"}, {ID: ipam.NewID(), Name: "lab"}, {ID: ipam.NewID(), Name: "other"}} {
		// a token's role applies to the name of a project, a member's role to its id
		want := map[string]tenancy.Role{"acme": tenancy.Provider, "lab": tenancy.Viewer}[p.Name]
		require.Equal(t, want, who.RoleByID(p))
	}
	require.Equal(t, []string{"acme", "lab", "other"}, who.Projects())
}

func TestDefaultAlgorithmsAreAccepted(t *testing.T) {
	t.Parallel()
	for _, key := range []signer{elliptical("ec"), {"rsa", "RS256", rsaKey()}} {
		t.Run(key.alg, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, key)
			who, err := verifier(t, nil, p.conf("corp")).Authenticate(t.Context(), p.token(key, nil))
			require.NoError(t, err)
			require.Equal(t, "corp:alice@example.com", who.Subject)
			require.Empty(t, who.Roles)
		})
	}
}

func TestSubjectIsTheConfiguredClaim(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	p := startProvider(t, key)
	for name, tc := range map[string]struct {
		claim   string
		change  map[string]any
		subject string // "" means that the token is refused
	}{
		"Another":             {"email", map[string]any{"email": "bob@example.com"}, "corp:bob@example.com"},
		"Nested":              {"/user/name", map[string]any{"user": map[string]any{"name": "bob"}}, "corp:bob"},
		"WithADotInItsName":   {"example.com/id", map[string]any{"example.com/id": "bob"}, "corp:bob"},
		"RefusesANumber":      {"sub", map[string]any{"sub": 42}, ""},
		"RefusesAList":        {"groups", map[string]any{"groups": []string{"bob"}}, ""},
		"RefusesAnObject":     {"email", map[string]any{"email": map[string]any{"bob": true}}, ""},
		"RefusesItsAbsence":   {"email", nil, ""},
		"RefusesEmptiness":    {"email", map[string]any{"email": ""}, ""},
		"RefusesASlash":       {"sub", map[string]any{"sub": "acme/ci"}, ""},
		"RefusesControl":      {"sub", map[string]any{"sub": "bob\nadmin"}, ""},
		"RefusesOtherScripts": {"sub", map[string]any{"sub": "bоb"}, ""}, // a Cyrillic o
		"RefusesALongToken":   {"sub", map[string]any{"sub": string(make([]byte, 300))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := p.conf("corp")
			c.SubjectClaim = tc.claim
			claims := map[string]any{"email_verified": true}
			maps.Copy(claims, tc.change)
			who, err := verifier(t, nil, c).Authenticate(t.Context(), p.token(key, claims))
			if tc.subject == "" {
				require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
				require.Zero(t, who)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.subject, who.Subject)
		})
	}
}

func TestTokenIsVerifiedOnlyByItsIssuer(t *testing.T) {
	t.Parallel()
	one, two := elliptical("same-id"), elliptical("same-id")
	first, second := startProvider(t, one), startProvider(t, two)
	v := verifier(t, nil, first.conf("first"), second.conf("second"))
	for name, tc := range map[string]struct{ token, subject string }{
		"First":                      {first.token(one, nil), "first:alice@example.com"},
		"Second":                     {second.token(two, nil), "second:alice@example.com"},
		"RefusesSecondsKeyForFirst":  {first.token(two, nil), ""},
		"RefusesFirstsKeyForSecond":  {second.token(one, nil), ""},
		"RefusesASlashAtTheEnd":      {first.token(one, map[string]any{"iss": first.url + "/"}), ""},
		"RefusesAnUnknownIssuer":     {first.token(one, map[string]any{"iss": "https://issuer.example"}), ""},
		"RefusesAnIssuerInAList":     {first.token(one, map[string]any{"iss": []string{first.url}}), ""},
		"RefusesATokenWithoutIssuer": {first.token(one, map[string]any{"iss": nil}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := v.Authenticate(t.Context(), tc.token)
			if tc.subject == "" {
				require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.subject, who.Subject)
		})
	}
}

func TestUnreachableIssuerDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	key := elliptical("one")
	down, up := startProvider(t, key), startProvider(t, key)
	down.down.Store(true)
	v := verifier(t, nil, down.conf("down"), up.conf("up"))

	_, err := v.Authenticate(t.Context(), down.token(key, nil))
	require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err), err)
	require.NotContains(t, ipamMessage(t, err), down.url, "the cause is not for the caller")
	_, err = v.Authenticate(t.Context(), up.token(key, nil))
	require.NoError(t, err)

	t.Run("CachedKeysAreStillUsed", func(t *testing.T) {
		up.down.Store(true)
		_, err := v.Authenticate(t.Context(), up.token(key, nil))
		require.NoError(t, err)
	})
}

func ipamMessage(t *testing.T, err error) string {
	t.Helper()
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	require.Positive(t, e.RetryAfter)
	return e.Message
}
