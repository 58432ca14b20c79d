// Package problems holds one page for each error code: what it means, what the caller does, what the operator does. The
// server serves them at /problems/<code>, which is the `type` of its problem documents.
package problems

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page is the page of a code, in Markdown; false when there is none.
func Page(code string) (string, bool) {
	text, err := pages.ReadFile(code + ".md")
	return string(text), err == nil
}

// Codes lists the codes that have a page, in order.
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
