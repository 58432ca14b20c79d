package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/docs/problems"
)

// problemPage renders a page as HTML. The Markdown of these pages has only headings and paragraphs.
var problemPage = template.Must(template.New("problem").Parse(htmlHead + `<p><a href="/problems">All problems</a></p>
{{range .Content.Blocks}}{{if eq .Kind "h1"}}<h1>{{.Text}}</h1>
{{else if eq .Kind "h2"}}<h2>{{.Text}}</h2>
{{else}}<p>{{.Text}}</p>
{{end}}{{end}}` + htmlFoot))

type pageBlock struct{ Kind, Text string }

// Problem serves an error code's page: HTML to a browser, Markdown to other clients. Its path is the `type` in problem documents.
func Problem(c echo.Context) error {
	text, ok := problems.Page(c.Param("code"))
	if !ok {
		return echo.ErrNotFound
	}
	setVary(c)
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

// Problems lists all codes' pages: HTML to a browser, Markdown to other clients.
func Problems(c echo.Context) error {
	all := problems.All()
	setVary(c)
	if forBrowser(c) {
		return showHTML(c, problemIndex, "Problems", all)
	}
	var b strings.Builder
	b.WriteString("# Problems\n\n| status | code | in words |\n|---|---|---|\n")
	for _, p := range all {
		fmt.Fprintf(&b, "| %d | [`%s`](/problems/%s) | %s |\n", p.Status, p.Code, p.Code, p.Title)
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(b.String()))
}
