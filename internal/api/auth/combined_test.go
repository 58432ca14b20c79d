package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// taker accepts one token, and returns its own name as the subject of the caller.
type taker struct{ name, token string }

func (k taker) Authenticate(_ context.Context, token string) (tenancy.Principal, error) {
	if token != k.token {
		return tenancy.Principal{}, tenancy.NotValid("is another one")
	}
	return tenancy.Principal{Subject: k.name, Method: k.name}, nil
}

func TestEachTokenGoesToItsAuthenticator(t *testing.T) {
	t.Parallel()
	keys, oidc := taker{"keys", "carve_good"}, taker{"oidc", "a.b.c"}
	all := Combined{Keys: keys, OIDC: oidc}
	dev := Combined{Keys: keys, OIDC: oidc, Dev: Dev{}}
	for name, tc := range map[string]struct {
		ways    Combined
		header  []string
		subject string // "" means that the request is refused
	}{
		"Key":                         {all, []string{"Bearer carve_good"}, "keys"},
		"Token":                       {all, []string{"Bearer a.b.c"}, "oidc"},
		"SchemeInAnyCase":             {all, []string{"bEARER carve_good"}, "keys"},
		"MoreSpaces":                  {all, []string{"Bearer   carve_good "}, "keys"},
		"RefusesAnotherKey":           {all, []string{"Bearer carve_bad"}, ""},
		"RefusesAKeyWithoutKeys":      {Combined{OIDC: taker{"oidc", "carve_good"}}, []string{"Bearer carve_good"}, ""},
		"RefusesATokenWithoutIssuers": {Combined{Keys: taker{"keys", "a.b.c"}}, []string{"Bearer a.b.c"}, ""},
		"RefusesNothing":              {all, nil, ""},
		"RefusesAnEmptyHeader":        {all, []string{""}, ""},
		"RefusesAnEmptyToken":         {all, []string{"Bearer "}, ""},
		"RefusesAnotherScheme":        {all, []string{"Basic carve_good"}, ""},
		"RefusesNoScheme":             {all, []string{"carve_good"}, ""},
		"RefusesTwoTokens":            {all, []string{"Bearer carve_good a.b.c"}, ""},
		"RefusesTwoHeaders":           {all, []string{"Bearer carve_good", "Bearer carve_good"}, ""},
		"RefusesWithoutAnyWay":        {Combined{}, []string{"Bearer carve_good"}, ""},
		"DevTakesNoCredentials":       {dev, nil, "dev"},
		"DevTakesOtherSchemes":        {dev, []string{"Basic x"}, "dev"},
		"DevUsesTheKeyringForKeys":    {dev, []string{"Bearer carve_good"}, "keys"},
		"DevRefusesABadKey":           {dev, []string{"Bearer carve_bad"}, ""},
		"DevAloneTakesAll":            {Combined{Dev: Dev{}}, []string{"Bearer carve_bad"}, "dev"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/v1/projects", nil)
			for _, v := range tc.header {
				r.Header.Add("Authorization", v)
			}
			who, err := tc.ways.Authenticate(r)
			if tc.subject == "" {
				require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), err)
				require.Zero(t, who)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.subject, who.Subject)
		})
	}
}

// In development mode a browser needs no credentials. So pages of other origins must not be able to write.
func TestDevelopmentModeRefusesCrossOriginWrites(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method string
		header [2]string
		taken  bool
	}{
		{http.MethodPost, [2]string{"Origin", "http://evil.example"}, false},
		{http.MethodPost, [2]string{"Sec-Fetch-Site", "cross-site"}, false},
		{http.MethodDelete, [2]string{"Sec-Fetch-Site", "same-site"}, false},
		{http.MethodPost, [2]string{"Origin", "http://localhost:8080"}, true},
		{http.MethodGet, [2]string{"Sec-Fetch-Site", "cross-site"}, true},
		{http.MethodPost, [2]string{}, true},
	} {
		r := httptest.NewRequest(tc.method, "http://localhost:8080/v1/projects", nil)
		if tc.header[0] != "" {
			r.Header.Set(tc.header[0], tc.header[1])
		}
		_, err := Combined{Dev: Dev{}}.Authenticate(r)
		require.Equal(t, tc.taken, err == nil, tc)
	}
}

func TestOnlyDevelopmentModeIsAnnounced(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	Combined{Keys: taker{}}.Announce(h)
	require.Empty(t, h)
	Combined{Keys: taker{}, Dev: Dev{}}.Announce(h)
	require.NotEmpty(t, h.Get("Carve-Auth"))
}
