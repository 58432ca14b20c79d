package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named lists the hosts that the bundle mentions, with the reason why no browser loads anything from them. If an update of the vendored files adds a
// host, the test fails until a maintainer has reviewed the host.
var named = map[string]string{
	"datatracker.ietf.org": "comments inside ABNF grammars",
	"example.com":          "sample value for a string of format email",
	"fb.me":                "link in a warning of React's",
	"github.com":           "links in warnings and licences",
	"instagram.com":        "link maker of a Markdown renderer; a click goes there, the page does not",
	"json-schema.org":      "names of JSON Schema dialects",
	"reactjs.org":          "link in the text of React's errors",
	"redux.js.org":         "link in the text of Redux's errors",
	"soundcloud.com":       "link maker",
	"spdx.org":             "link to the licence that the document names",
	"spec.openapis.org":    "names of OpenAPI dialects",
	"swagger.io":           "base that makes a relative address parse; taken off again",
	"twitter.com":          "link maker",
	"validator.swagger.io": "the public validator: switched off by validatorUrl: null, which is tested below",
	"vladimirgorej.com":    "base that makes a relative address parse; never asked",
	"www.facebook.com":     "link maker",
	"www.rfc-editor.org":   "comments inside ABNF grammars",
	"www.tiktok.com":       "link maker",
	"www.w3.org":           "names of XML namespaces",
}

func TestNoServedFileFetchesFromOutside(t *testing.T) {
	t.Parallel()

	t.Run("ThePageNamesOnlyFilesBesideItAndTheSpecification", func(t *testing.T) {
		t.Parallel()
		_, page := get(t, "/docs/", nil)
		for _, address := range addresses(page) {
			require.True(t, address == "/openapi.yaml" || !strings.ContainsAny(address, ":/"), address)
		}
		require.NotRegexp(t, `(?i)<script(?:\s*>|[^>]*>[^<])`, page, "an inline script would be refused by the policy")
	})

	t.Run("TheStyleSheetsHoldTheirImagesAsData", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"swagger-ui.css", "page.css"} {
			_, sheet := get(t, "/docs/"+name, nil)
			require.NotContains(t, sheet, "@import", name)
			for _, match := range regexp.MustCompile(`url\(\s*["']?([^"')]{0,60})`).FindAllStringSubmatch(sheet, -1) {
				require.True(t, strings.HasPrefix(match[1], "data:"), "%s: %s", name, match[1])
			}
		}
	})

	t.Run("TheScriptsNameOnlyReviewedHosts", func(t *testing.T) {
		t.Parallel()
		host := regexp.MustCompile(`(?i)(?:(?:https?|wss?):|["'\x60])//([a-z0-9][a-z0-9.-]*\.[a-z]{2,})`)
		found := map[string]bool{}
		for _, name := range []string{"swagger-ui-bundle.js", "initializer.js"} {
			_, script := get(t, "/docs/"+name, nil)
			for _, match := range host.FindAllStringSubmatch(script, -1) {
				found[strings.ToLower(match[1])] = true
			}
		}
		for name := range found {
			require.Contains(t, named, name, "a host nobody has looked at: what do the scripts do there?")
		}
		for name := range named {
			require.Contains(t, found, name, "a host the scripts no longer name: take it off the list")
		}
	})

	t.Run("ThePublicValidatorIsOff", func(t *testing.T) {
		t.Parallel()
		_, script := get(t, "/docs/initializer.js", nil)
		require.Contains(t, script, "validatorUrl: null")
		require.NotContains(t, script, "http")
	})

	t.Run("ThePolicyBlocksOtherSources", func(t *testing.T) {
		t.Parallel()
		answer, _ := get(t, "/docs/", nil)
		policy := answer.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		for directive := range strings.SplitSeq(policy, ";") {
			for _, source := range strings.Fields(directive)[1:] {
				require.Contains(t, []string{"'none'", "'self'", "data:"}, source)
			}
		}
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
	})
}
