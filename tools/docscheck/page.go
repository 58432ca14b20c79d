package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// page holds the parts of a Markdown file that are checked.
type page struct {
	path    string // relative to the checkout, with slashes
	source  []byte
	blocks  []block // in order
	links   []link
	anchors map[string]bool
}

// block is a block of code, or an instruction to this program (language "remark").
type block struct {
	language string
	note     string // text after the language
	text     string
	line     int    // line number of the first line of text
	indent   string // before each line, for a block in a list
	from, to int    // the byte offsets of the text in the source
	next     *block // the block directly after it
}

// link is the target of a link or an image.
type link struct {
	to   string
	line int
}

// remark begins an instruction to this program.
const remark = "<!-- docs-check:"

// readPage reads a page of the checkout.
func readPage(root, path string) (*page, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	return parsePage(path, source), nil
}

func parsePage(path string, source []byte) *page {
	p := &page{path: path, source: source, anchors: map[string]bool{}}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	seen := map[string]int{}
	var adjacent []bool // whether a block directly follows the one before
	last := ast.Node(nil)
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function below returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			p.blocks = append(p.blocks, p.fenced(n))
			adjacent = append(adjacent, last != nil && n.PreviousSibling() == last)
			last = n
		case *ast.CodeBlock:
			b := block{text: string(n.Lines().Value(source)), line: p.lineOf(n.Lines().At(0).Start)}
			p.blocks, adjacent, last = append(p.blocks, b), append(adjacent, false), n
		case *ast.HTMLBlock:
			if b, ok := p.remark(n); ok {
				p.blocks, adjacent, last = append(p.blocks, b), append(adjacent, false), n
			}
		case *ast.Heading:
			p.anchors[slug(headingText(n, source), seen)] = true
		case *ast.Link:
			p.links = append(p.links, link{to: string(n.Destination), line: p.lineOf(near(n))})
		case *ast.Image:
			p.links = append(p.links, link{to: string(n.Destination), line: p.lineOf(near(n))})
		case *ast.RawHTML:
			p.addIDs(n.Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
	for i := 1; i < len(p.blocks); i++ {
		if adjacent[i] {
			p.blocks[i-1].next = &p.blocks[i]
		}
	}
	return p
}

func (p *page) fenced(n *ast.FencedCodeBlock) block {
	b := block{}
	if n.Info != nil {
		info := string(n.Info.Value(p.source))
		b.language, b.note, _ = strings.Cut(info, " ")
		b.note = strings.TrimSpace(b.note)
	}
	if lines := n.Lines(); lines.Len() > 0 {
		first, end := lines.At(0), lines.At(lines.Len()-1)
		b.from, b.to = p.lineStart(first.Start), end.Stop
		b.indent = string(p.source[b.from:first.Start])
		b.text = string(lines.Value(p.source))
		b.line = p.lineOf(first.Start)
		return b
	}
	// The block is empty. Its text would begin on the line below the opening fence.
	at := n.Pos()
	if n.Info != nil {
		at = n.Info.Segment.Stop
	}
	if nl := bytes.IndexByte(p.source[at:], '\n'); nl >= 0 {
		at += nl + 1
	}
	b.from, b.to, b.line = at, at, p.lineOf(at)
	return b
}

// remark reads an instruction to this program from a comment, if it contains one.
func (p *page) remark(n *ast.HTMLBlock) (block, bool) {
	whole := string(n.Lines().Value(p.source))
	if n.HasClosure() {
		closing := n.ClosureLine
		whole += string(closing.Value(p.source))
	}
	p.addIDs([]byte(whole))
	_, said, ok := strings.Cut(whole, remark)
	if !ok {
		return block{}, false
	}
	said, _, _ = strings.Cut(said, "-->")
	head, rest, _ := strings.Cut(said, "\n")
	return block{language: "remark", note: strings.TrimSpace(head), text: rest, line: p.lineOf(n.Lines().At(0).Start)}, true
}

// lineOf counts lines from 1.
func (p *page) lineOf(offset int) int {
	return 1 + bytes.Count(p.source[:min(offset, len(p.source))], []byte("\n"))
}

func (p *page) lineStart(offset int) int { return 1 + bytes.LastIndexByte(p.source[:offset], '\n') }

// near returns the source position of the text in an inline node. If the node has no text, it returns the position of its block.
func near(n ast.Node) int {
	for c := n.FirstChild(); c != nil; c = c.FirstChild() {
		if t, ok := c.(*ast.Text); ok {
			return t.Segment.Start
		}
	}
	for b := n.Parent(); b != nil; b = b.Parent() {
		if b.Type() == ast.TypeBlock && b.Lines() != nil && b.Lines().Len() > 0 {
			return b.Lines().At(0).Start
		}
	}
	return 0
}
