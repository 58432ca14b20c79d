package fastvalidate

import (
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// Limits limit a JSON text in addition to its schema.
type Limits struct {
	Tokens int // values, names and brackets
	Name   int // bytes of a member's name
}

// Checker recognizes values that are certainly valid for a schema. It is safe for concurrent use.
type Checker struct {
	root   *node
	limits Limits
}

// Compiler makes Checkers. All of them share the tables of their patterns.
type Compiler struct {
	limits   Limits
	patterns map[string]*pattern
}

// NewCompiler returns a Compiler.
func NewCompiler(limits Limits) *Compiler {
	return &Compiler{limits: limits, patterns: map[string]*pattern{}}
}

// Compile makes the Checker of a schema. If a part of the schema has a keyword that Compile does not know, the Checker accepts no value for that
// part.
func (c *Compiler) Compile(schema *openapi3.SchemaRef) *Checker {
	return &Checker{root: c.compile(schema, maxDepth), limits: c.limits}
}

// Valid reports whether data is certainly one JSON text that the schema allows and that all parsers read in the same way. Such a text is UTF-8. It
// has no duplicate members (even in another case), no null, no escapes, and no numbers except plain integers.
func (c *Checker) Valid(data []byte) bool {
	s := scan{data: data, limits: c.limits}
	if !s.value(c.root) {
		return false
	}
	s.space()
	return s.at == len(data)
}

// ValidText reports whether a parameter is certainly valid: a string, an integer in digits, true or false.
func (c *Checker) ValidText(value string) bool {
	switch n := c.root; n.kind {
	case text:
		return utf8.ValidString(value) && holds(n, value)
	case integer, boolean:
		s := scan{data: []byte(value), limits: c.limits}
		return s.value(n) && s.at == len(value) && value[0] > ' '
	default:
		return false
	}
}

// AcceptsNothing reports whether the Checker accepts no value at all.
func (c *Checker) AcceptsNothing() bool { return c.root.kind == never }
