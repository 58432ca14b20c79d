package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/docs/problems"
	"github.com/carve-ipam/carve/internal/ipam"
)

// problemPage renders a page as HTML. The pages use only headings and paragraphs of Markdown.
var problemPage = template.Must(template.New("problem").Parse(htmlHead + `<p><a href="/problems">All problems</a></p>
{{range .Content.Blocks}}{{if eq .Kind "h1"}}<h1>{{.Text}}</h1>
{{else if eq .Kind "h2"}}<h2>{{.Text}}</h2>
{{else}}<p>{{.Text}}</p>
{{end}}{{end}}` + htmlFoot))

type pageBlock struct{ Kind, Text string }

// Problem serves the page of an error code: HTML to a browser, Markdown to other clients. Its path is the `type` of problem documents.
func Problem(c echo.Context) error {
	text, ok := problems.Page(c.Param("code"))
	if !ok {
		return echo.ErrNotFound
	}
	varies(c)
	if !forBrowser(c) {
		return c.Blob(http.StatusOK, mimeMarkdown, []byte(text))
	}
	return showHTML(c, problemPage, c.Param("code"), map[string]any{"Blocks": pageBlocks(text)})
}

func pageBlocks(text string) []pageBlock {
	var out []pageBlock
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.TrimSpace(strings.ReplaceAll(part, "`", ""))
		switch {
		case part == "":
		case strings.HasPrefix(part, "# "):
			out = append(out, pageBlock{"h1", part[2:]})
		case strings.HasPrefix(part, "## "):
			out = append(out, pageBlock{"h2", part[3:]})
		default:
			out = append(out, pageBlock{"p", part})
		}
	}
	return out
}

var problemIndex = template.Must(template.New("problems").Parse(htmlHead + `<p><a href="/">Carve</a></p>
<h1>Problems</h1>
<table>
<tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr>
{{range .Content}}<tr><td>{{.Status}}</td><td><a href="/problems/{{.Code}}">{{.Code}}</a></td><td>{{.Title}}</td></tr>
{{end}}</table>
` + htmlFoot))

// Row is one code in the list of all error codes.
type Row struct {
	Status int
	Code   ipam.Code
	Title  string
}

// Problems lists the pages of all codes, in the given order: HTML to a browser, Markdown to other clients.
func Problems(rows []Row) echo.HandlerFunc {
	return func(c echo.Context) error { return list(c, rows) }
}

func list(c echo.Context, rows []Row) error {
	varies(c)
	if forBrowser(c) {
		return showHTML(c, problemIndex, "Problems", rows)
	}
	var b strings.Builder
	b.WriteString("# Problems\n\n| status | code | in words |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | [`%s`](/problems/%s) | %s |\n", r.Status, r.Code, r.Code, r.Title)
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(b.String()))
}
