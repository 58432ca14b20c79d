package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

var idAttribute = regexp.MustCompile(`\b(?:id|name)="([^"]+)"`)

// addIDs records the anchors that HTML in a page defines.
func (p *page) addIDs(html []byte) {
	for _, m := range idAttribute.FindAllSubmatch(html, -1) {
		p.anchors[string(m[1])] = true
	}
}

// headingText returns a heading's text without its markup.
func headingText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slug returns the anchor that code hosts such as GitHub make from a heading. The anchor is in lower case, has hyphens for spaces, and has no
// punctuation. A repeated anchor gets a counter.
func slug(heading string, seen map[string]int) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, strings.TrimSpace(heading))
	n := seen[s]
	seen[s]++
	if n > 0 {
		return s + "-" + strconv.Itoa(n)
	}
	return s
}
