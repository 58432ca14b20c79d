package docs_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/docs"
)

func get(t *testing.T, target string, header http.Header) (*http.Response, string) {
	t.Helper()
	return ask(t, http.MethodGet, target, header)
}

func ask(t *testing.T, method, target string, header http.Header) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	docs.Handler("/openapi.yaml").ServeHTTP(w, r)
	answer := w.Result()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer, string(body)
}

func TestDocs(t *testing.T) {
	t.Parallel()

	t.Run("ServesEveryFileThePageAsksForWithItsType", func(t *testing.T) {
		t.Parallel()
		answer, page := get(t, "/docs/", nil)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, "text/html; charset=utf-8", answer.Header.Get("Content-Type"))
		require.Contains(t, page, "<title>Carve</title>")

		want := map[string]string{
			"swagger-ui.css":       "text/css; charset=utf-8",
			"page.css":             "text/css; charset=utf-8",
			"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
			"initializer.js":       "text/javascript; charset=utf-8",
			"favicon-32x32.png":    "image/png",
		}
		var asked []string
		for _, address := range addresses(page) {
			if address != "/openapi.yaml" {
				asked = append(asked, address)
			}
		}
		require.Len(t, asked, len(want))
		for _, name := range asked {
			answer, body := get(t, "/docs/"+name, nil)
			require.Equal(t, http.StatusOK, answer.StatusCode, name)
			require.Equal(t, want[name], answer.Header.Get("Content-Type"), name)
			require.NotEmpty(t, body, name)
		}
	})

	t.Run("ServesTheLicences", func(t *testing.T) {
		t.Parallel()
		for name, text := range map[string]string{
			"LICENSE": "Apache License", "NOTICE": "SmartBear", "swagger-ui-bundle.js.LICENSE.txt": "@license",
		} {
			answer, body := get(t, "/docs/"+name, nil)
			require.Equal(t, http.StatusOK, answer.StatusCode, name)
			require.Equal(t, "text/plain; charset=utf-8", answer.Header.Get("Content-Type"), name)
			require.Contains(t, body, text, name)
		}
	})

	t.Run("LinksTheGivenSpecification", func(t *testing.T) {
		t.Parallel()
		_, page := get(t, "/docs/", nil)
		require.Contains(t, page, `data-spec-url="/openapi.yaml"`)
		_, script := get(t, "/docs/initializer.js", nil)
		require.Contains(t, script, "url: root.dataset.specUrl")
	})

	t.Run("EscapesTheAddressOfTheSpecification", func(t *testing.T) {
		t.Parallel()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/", nil)
		docs.Handler(`/a"><script src="https://outside.example/x.js"></script>`).ServeHTTP(w, r)
		require.NotContains(t, w.Body.String(), "<script src=\"https:")
	})

	t.Run("RedirectsToTheFolder", func(t *testing.T) {
		t.Parallel()
		answer, _ := get(t, "/docs", nil)
		require.Equal(t, http.StatusMovedPermanently, answer.StatusCode)
		require.Equal(t, "/docs/", answer.Header.Get("Location"))
	})

	t.Run("ReturnsNotModifiedForUnchangedFiles", func(t *testing.T) {
		t.Parallel()
		first, _ := get(t, "/docs/swagger-ui-bundle.js", nil)
		require.Regexp(t, `^"[0-9a-f]{32}"$`, first.Header.Get("ETag"))
		require.Equal(t, "no-cache", first.Header.Get("Cache-Control"))
		again, body := get(t, "/docs/swagger-ui-bundle.js", http.Header{"If-None-Match": {first.Header.Get("ETag")}})
		require.Equal(t, http.StatusNotModified, again.StatusCode)
		require.Empty(t, body)
	})

	t.Run("RefusesUnknownFilesAndOtherMethods", func(t *testing.T) {
		t.Parallel()
		for _, target := range []string{"/docs/nothing.js", "/docs/dist/LICENSE", "/docs/../docs.go", "/elsewhere"} {
			answer, _ := get(t, target, nil)
			require.Equal(t, http.StatusNotFound, answer.StatusCode, target)
		}
		answer, _ := ask(t, http.MethodPost, "/docs/", nil)
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
		require.Equal(t, "GET, HEAD", answer.Header.Get("Allow"))
	})
}

var addressPattern = regexp.MustCompile(`\b(?:src|href|action|data|poster|srcset|content)\s*=\s*"([^"]*)"`)

// addresses returns the distinct addresses in a page. It includes the content attributes, because a browser also loads <meta http-equiv=refresh>.
func addresses(page string) []string {
	var found []string
	seen := map[string]bool{}
	for _, match := range addressPattern.FindAllStringSubmatch(page, -1) {
		if address := match[1]; !seen[address] && !strings.Contains(address, "width=") {
			seen[address] = true
			found = append(found, address)
		}
	}
	return found
}
