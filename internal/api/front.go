package api

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
)

// front is what is at /, which is not of the contract: where all else is. It does not say which build answers; that needs credentials.
type front struct {
	Name     string `json:"name"`
	Contract string `json:"contract"`
	Docs     string `json:"docs"`
	Problems string `json:"problems"`
	Version  string `json:"version"`
	Health   string `json:"health"`
	Ready    string `json:"ready"`
}

// serveFront takes a browser to the documentation, and tells everybody else where things are.
func serveFront(c echo.Context) error {
	varies(c)
	if forBrowser(c) {
		return c.Redirect(http.StatusSeeOther, "/docs/")
	}
	return c.JSON(http.StatusOK, front{
		Name: "Carve", Contract: "/openapi.yaml", Docs: "/docs/", Problems: "/problems", Version: "/v1/version", Health: "/healthz", Ready: "/readyz",
	})
}

var problemIndex = template.Must(template.New("problems").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Problems</title></head>
<body>
<h1>Problems</h1>
<table>
<tr><th>status</th><th>code</th><th>in words</th></tr>
{{range .}}<tr><td>{{.Status}}</td><td><a href="/problems/{{.Code}}">{{.Code}}</a></td><td>{{.Title}}</td></tr>
{{end}}</table>
</body>
</html>
`))

type problemRow struct {
	Status int
	Code   ipam.Code
	Title  string
}

// serveProblemIndex lists the pages of all codes, by status: HTML to a browser, Markdown to everybody else.
func serveProblemIndex(c echo.Context) error {
	rows := make([]problemRow, 0, len(kinds))
	for _, code := range slices.Sorted(maps.Keys(kinds)) {
		rows = append(rows, problemRow{Status: kinds[code].status, Code: code, Title: kinds[code].title})
	}
	slices.SortStableFunc(rows, func(a, b problemRow) int { return cmp.Compare(a.Status, b.Status) })
	varies(c)
	if forBrowser(c) {
		c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		c.Response().WriteHeader(http.StatusOK)
		return problemIndex.Execute(c.Response(), rows)
	}
	var b strings.Builder
	b.WriteString("# Problems\n\n| status | code | in words |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | [`%s`](/problems/%s) | %s |\n", r.Status, r.Code, r.Code, r.Title)
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(b.String()))
}

const mimeMarkdown = "text/markdown; charset=utf-8"

// forBrowser reports whether the caller shows HTML.
func forBrowser(c echo.Context) bool {
	return strings.Contains(c.Request().Header.Get("Accept"), "text/html")
}

// varies says that an answer is not the same for everybody, and may be of another build soon.
func varies(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept")
}
