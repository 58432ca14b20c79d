// Package pages serves the paths outside the contract: the front page, the contract itself, and a page about each error code.
package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// OptionalPaths selects the paths outside the contract that exist only in some configurations.
type OptionalPaths struct {
	Console      bool
	Metrics      bool
	MetricsLocal bool // metrics are only for callers on this machine
}

// front is the response at /, which lists the server's paths. It omits the version, because only callers with credentials may read the version.
type front struct {
	Name     string `json:"name"`
	Console  string `json:"console,omitempty"`
	Contract string `json:"contract"`
	Docs     string `json:"docs"`
	Problems string `json:"problems"`
	Version  string `json:"version"`
	Health   string `json:"health"`
	Ready    string `json:"ready"`
	Metrics  string `json:"metrics,omitempty"`
}

//go:embed front.html
var frontText string

//go:embed front.css
var frontStyle string

// Front serves the list of the server's paths, as a page to browsers and as JSON to other clients. It needs no credentials.
func Front(optional OptionalPaths) echo.HandlerFunc {
	var page bytes.Buffer
	if err := template.Must(template.New("front").Parse(frontText)).Execute(&page, struct {
		OptionalPaths
		Style template.CSS
	}{optional, template.CSS(frontStyle)}); err != nil { //nolint:gosec // a constant in this package
		panic(fmt.Sprintf("api: front page: %v", err))
	}
	paths := front{
		Name: "Carve", Contract: "/openapi.yaml", Docs: "/docs/", Problems: "/problems", Version: "/v1/version", Health: "/healthz", Ready: "/readyz",
	}
	if optional.Console {
		paths.Console = "/console/"
	}
	if optional.Metrics {
		paths.Metrics = "/metrics"
	}
	return func(c echo.Context) error {
		setVary(c)
		if !forBrowser(c) {
			return c.JSON(http.StatusOK, paths)
		}
		c.Response().Header().Set("Content-Security-Policy", policy())
		return c.HTMLBlob(http.StatusOK, page.Bytes())
	}
}

// policy is the pages' Content-Security-Policy. It allows their style sheet and nothing else.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(frontStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

// htmlHead and htmlFoot enclose each page that the server renders.
const (
	htmlHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} · Carve</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
`
	htmlFoot = `</main>
</body>
</html>
`
)

// showHTML responds with a page between htmlHead and htmlFoot.
func showHTML(c echo.Context, page *template.Template, title string, content any) error {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	h.Set("Content-Security-Policy", policy())
	c.Response().WriteHeader(http.StatusOK)
	return page.Execute(c.Response(), struct {
		Title   string
		Style   template.CSS
		Content any
	}{title, template.CSS(frontStyle), content}) //nolint:gosec // a constant in this package
}

const mimeMarkdown = "text/markdown; charset=utf-8"

// forBrowser reports whether the caller accepts HTML.
func forBrowser(c echo.Context) bool {
	return strings.Contains(c.Request().Header.Get("Accept"), "text/html")
}

// setVary sets the headers of a response that depends on the Accept header and on the build.
func setVary(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept")
}
