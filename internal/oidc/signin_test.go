package oidc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIssuersWithAClientAreOfferedForSignIn(t *testing.T) {
	t.Parallel()
	base := Issuer{Name: "corp", URL: "https://corp.example", Audience: "carve", Roles: []Rule{{Claim: "groups", Value: "a", Project: "p", Role: "viewer"}}}
	with := base
	with.SignIn = Client{ClientID: "console"}
	v := verifier(t, nil, with)
	require.Contains(t, v.SignIns(), "corp")
	require.Empty(t, verifier(t, nil, base).SignIns())
	mark := v.issuers[with.URL].mark
	require.True(t, v.IsCurrent(with.URL, mark))
	require.True(t, verifier(t, nil, with).IsCurrent(with.URL, mark), "on every server")
	require.False(t, v.IsCurrent("https://other.example", mark))
	require.False(t, verifier(t, nil, base).IsCurrent(with.URL, mark), "nobody signs in there any more")
	for name, change := range map[string]func(*Issuer){
		"AnotherClient": func(is *Issuer) { is.SignIn.ClientID = "other" },
		"AnotherClaim":  func(is *Issuer) { is.SubjectClaim = "email" },
		"AnotherRole":   func(is *Issuer) { is.Roles = []Rule{{Claim: "groups", Value: "a", Project: "p", Role: "admin"}} },
		"NoRules":       func(is *Issuer) { is.Roles = nil },
	} {
		changed := with
		change(&changed)
		require.False(t, verifier(t, nil, changed).IsCurrent(with.URL, mark), name)
	}
}

func TestSignInConfigurationIsValidated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "oidc.yaml")
	load := func(signIn string) (Config, error) {
		require.NoError(t, os.WriteFile(file, []byte("issuers: [{name: corp, url: 'https://corp.example', audience: carve, signIn: {"+signIn+"}}]"), 0o600))
		return Load(file)
	}
	c, err := load("clientId: a")
	require.NoError(t, err)
	require.Equal(t, []string{"openid", "profile", "email"}, c.Issuers[0].SignIn.Scopes)
	c, err = load("clientId: a, scopes: [groups, openid], redirectUrl: 'https://carve.example/console/callback'")
	require.NoError(t, err)
	require.Equal(t, []string{"openid", "groups"}, c.Issuers[0].SignIn.Scopes)
	for signIn, why := range map[string]string{
		"scopes: [a]": "clientId is missing", "clientId: a, redirectUrl: 'http://carve.example/console/callback'": "redirectUrl",
		"clientId: a, redirectUrl: 'https://carve.example/'": "redirectUrl", "clientId: a, clientSecretFile: none": "clientSecretFile", "clientID: a": "clientID",
	} {
		_, err := load(signIn)
		require.ErrorContains(t, err, why, signIn)
	}
	secret := filepath.Join(filepath.Dir(file), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("\n"), 0o600))
	_, err = load("clientId: a, clientSecretFile: secret")
	require.ErrorContains(t, err, "is empty")
	require.NoError(t, os.WriteFile(secret, []byte("one\n"), 0o600))
	c, err = load("clientId: a, clientSecretFile: secret")
	require.NoError(t, err)
	for _, want := range []string{"one", "two"} {
		require.NoError(t, os.WriteFile(secret, []byte(want+"\n"), 0o600))
		got, err := c.Issuers[0].SignIn.secret()
		require.NoError(t, err)
		require.Equal(t, want, got, "it is read each time")
	}
}
