package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

var idAttribute = regexp.MustCompile(`\b(?:id|name)="([^"]+)"`)

// addIDs notes the anchors that HTML in a page makes.
func (p *page) addIDs(html []byte) {
	for _, m := range idAttribute.FindAllSubmatch(html, -1) {
		p.anchors[string(m[1])] = true
	}
}

// headingText is what a heading says, without its marks.
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

// slug is the anchor that code hosts make of a heading: lower case, spaces as hyphens, without punctuation, and counted when it repeats.
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
