// Package problems contains one page for each error code, with its meaning and the next steps of the caller and of the operator. The server serves the pages
// at /problems/<code>; that URL is the `type` of a problem document.
package problems

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page returns the page of a code in Markdown, or false if none exists.
func Page(code string) (string, bool) {
	text, err := pages.ReadFile(code + ".md")
	return string(text), err == nil
}

// Codes returns the codes that have a page, sorted.
func Codes() []string {
	names, err := fs.Glob(pages, "*.md")
	if err != nil { // a malformed pattern
		panic(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".md")
	}
	slices.Sort(names)
	return names
}
