package api

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/docs/problems"
)

// problemPage shows Markdown as HTML, as far as the pages need it: headings and paragraphs.
var problemPage = template.Must(template.New("problem").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title></head>
<body>
{{range .Blocks}}{{if eq .Kind "h1"}}<h1>{{.Text}}</h1>
{{else if eq .Kind "h2"}}<h2>{{.Text}}</h2>
{{else}}<p>{{.Text}}</p>
{{end}}{{end}}</body>
</html>
`))

type pageBlock struct{ Kind, Text string }

// serveProblemPage serves the page of a code: HTML to a browser, Markdown to everybody else. The path is the `type` of
// problem documents.
func serveProblemPage(c echo.Context) error {
	text, ok := problems.Page(c.Param("code"))
	if !ok {
		return echo.ErrNotFound
	}
	varies(c)
	if !forBrowser(c) {
		return c.Blob(http.StatusOK, mimeMarkdown, []byte(text))
	}
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	c.Response().WriteHeader(http.StatusOK)
	return problemPage.Execute(c.Response(), map[string]any{"Title": c.Param("code"), "Blocks": pageBlocks(text)})
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
