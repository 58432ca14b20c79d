package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRedirectsStayInTheConsole(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"":                                Path,
		"/console/":                       "/console/",
		"/console/pools":                  "/console/pools",
		"/console/projects/a/pools?tab=b": "/console/projects/a/pools?tab=b",
		"/console/projects/a%2Fb":         "/console/projects/a%2Fb",
		"/console":                        Path,
		"/":                               Path,
		"/v1/whoami":                      Path,
		"//evil.example":                  Path,
		"//evil.example/console/":         Path,
		"///evil.example/console/":        Path,
		"/\\evil.example":                 Path,
		"/console/\\evil.example":         Path,
		"\\\\evil.example/console/":       Path,
		"https://evil.example/":           Path,
		"https:/console/":                 Path,
		"https:evil.example/console/":     Path,
		"javascript:alert(1)":             Path,
		"data:text/html,x":                Path,
		"evil.example/console/":           Path,
		"/console/../v1/whoami":           Path,
		"/console/..//evil.example":       Path,
		"/console//evil.example":          Path,
		"/console/%2e%2e//evil.example":   Path,
		"/console/%2e%2e/%2e%2e/docs/":    Path,
		"/console/..%2F..%2Fdocs":         Path,
		"/console/a\r\nSet-Cookie: a=b":   Path,
		"/console/a\x00b":                 Path,
		"\t//evil.example":                Path,
		" //evil.example":                 Path,
		"/console/@evil.example":          "/console/@evil.example",
		"//user@evil.example/console/":    Path,
		"/console/" + strings.Repeat("a", longestReturn): Path,
	} {
		got := safeReturn(asked)
		require.Equal(t, want, got, "%q", asked)
		at, err := url.Parse("https://carve.example.com/console/callback")
		require.NoError(t, err)
		to, err := at.Parse(got)
		require.NoError(t, err)
		require.Equal(t, "carve.example.com", to.Host, "%q", asked)
		require.True(t, strings.HasPrefix(to.Path, Path), "%q: %s", asked, to)
	}
}

// A link on another page must not sign a user in. The user must first click on a page of the console.
func TestCrossSiteRequestsAreRecognized(t *testing.T) {
	t.Parallel()
	for site, elsewhere := range map[string]bool{"": false, "same-origin": false, "none": false, "same-site": true, "cross-site": true, "unheard-of": true} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/login?issuer=corp", http.NoBody)
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		require.Equal(t, elsewhere, isCrossSite(r), site)
	}
}
