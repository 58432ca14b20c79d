// Package problems contains one page for each error code, with its meaning and the next steps of the caller and of the operator. A page also states the
// code's title and HTTP status. The server serves the pages at /problems/<code>; that URL is the `type` of a problem document.
package problems

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed *.md
var pages embed.FS

// Problem is an error code with its title and its HTTP status.
type Problem struct {
	Code, Title string
	Status      int
}

// Page returns the page of a code in Markdown, or false if none exists.
func Page(code string) (string, bool) {
	text, err := pages.ReadFile(code + ".md")
	return string(text), err == nil
}

// All returns the problems that have a page, sorted by status and then by code. It panics if a page does not begin with its title and a line such as
// "`in_use`, status 409": the pages are part of the build. Callers must not change the result.
var All = sync.OnceValue(func() []Problem {
	names, err := fs.Glob(pages, "*.md")
	if err != nil { // a malformed pattern
		panic(err)
	}
	out := make([]Problem, len(names))
	for i, name := range names {
		p := Problem{Code: strings.TrimSuffix(name, ".md")}
		text, _ := Page(p.Code)
		title, rest, _ := strings.Cut(text, "\n\n")
		p.Title = strings.TrimPrefix(title, "# ")
		if _, err := fmt.Sscanf(rest, "`"+p.Code+"`, status %d\n", &p.Status); err != nil || p.Title == title {
			panic("problems: the head of " + name + " is not valid")
		}
		out[i] = p
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Status, b.Status) })
	return out
})
