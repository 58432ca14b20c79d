package fastvalidate

import (
	"math"
	"reflect"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// maxDepth limits the nesting of schemas, because schemas may be recursive. A deeper value has no fast path. A body may be nested more deeply.
	maxDepth = 20
	// maxMembers is the largest number of members in an object, because one uint64 stores the set of members.
	maxMembers = 64
)

type kind int

const (
	never      kind = iota // accepts no value
	text                   // a string
	integer                // a non-negative integer
	boolean                // true or false
	list                   // an array
	record                 // an object with known members
	dictionary             // an object with names that the caller chooses
)

// node is a compiled schema.
type node struct {
	kind        kind
	least, most int64 // bounds of an integer, of the characters in a string, or of the number of items or members
	pattern     *pattern
	choices     []string // nil: any text
	item        *node    // schema of each item in a list or dictionary
	members     map[string]member
	required    uint64 // the required members, as a set of bits
}

type member struct {
	bit  uint64
	node *node
}

var unknown = &node{kind: never}

func (c *Compiler) compile(ref *openapi3.SchemaRef, depth int) *node {
	if ref == nil || ref.Value == nil || depth == 0 {
		return unknown
	}
	s := *ref.Value
	// Remove the keywords that do not affect validity, and Nullable. The fast path never accepts null.
	s.Extensions, s.Origin, s.Title, s.Description, s.Default, s.Example, s.ExternalDocs = nil, nil, "", "", nil, nil, nil
	s.Deprecated, s.Nullable = false, false
	if len(s.AllOf) == 1 {
		inner := s.AllOf[0]
		s.AllOf = nil
		if !hasNoKeyword(&s) {
			return unknown
		}
		return c.compile(inner, depth-1)
	}
	n := &node{}
	switch { // each case removes the keywords that it supports
	case s.Type.Is(openapi3.TypeString):
		n = c.compileText(&s)
	case s.Type.Is(openapi3.TypeInteger):
		n = compileInteger(&s)
	case s.Type.Is(openapi3.TypeBoolean):
		n = &node{kind: boolean}
	case s.Type.Is(openapi3.TypeArray):
		n = &node{kind: list, item: c.compile(s.Items, depth-1), least: whole(s.MinItems), most: wholeOr(s.MaxItems)}
		s.Items, s.MinItems, s.MaxItems = nil, 0, nil
	case s.Type.Is(openapi3.TypeObject):
		n = c.compileObject(&s, depth)
	}
	s.Type = nil
	if !hasNoKeyword(&s) { // an unsupported keyword remains
		return unknown
	}
	return n
}

func hasNoKeyword(s *openapi3.Schema) bool {
	return reflect.DeepEqual(*s, openapi3.Schema{}) //nolint:govet // the caller has removed values that may be errors, such as an example's
}

func (c *Compiler) compileText(s *openapi3.Schema) *node {
	n := &node{kind: text, least: whole(s.MinLength), most: wholeOr(s.MaxLength)}
	if s.Pattern != "" {
		if n.pattern = c.pattern(s.Pattern); n.pattern == nil {
			return unknown
		}
	}
	for _, choice := range s.Enum {
		switch choice := choice.(type) {
		case string:
			n.choices = append(n.choices, choice)
		case nil: // the schema allows null
		default:
			return unknown
		}
	}
	if len(s.Enum) > 0 && len(n.choices) == 0 {
		return unknown
	}
	s.MinLength, s.MaxLength, s.Pattern, s.Enum = 0, nil, "", nil
	return n
}

func (c *Compiler) pattern(expression string) *pattern {
	p, known := c.patterns[expression]
	if !known {
		p = newPattern(expression)
		c.patterns[expression] = p
	}
	return p
}

func compileInteger(s *openapi3.Schema) *node {
	n := &node{kind: integer, most: math.MaxInt64}
	if s.Min != nil {
		n.least = int64(math.Ceil(min(max(*s.Min, 0), maxInteger)))
	}
	if s.Max != nil {
		if *s.Max < 0 {
			return unknown
		}
		n.most = int64(math.Floor(min(*s.Max, maxInteger)))
	}
	s.Min, s.Max = nil, nil
	return n
}

func (c *Compiler) compileObject(s *openapi3.Schema, depth int) *node {
	n := &node{kind: record, least: whole(s.MinProps), most: wholeOr(s.MaxProps)}
	others := s.AdditionalProperties
	switch {
	case others.Schema != nil && others.Has == nil && len(s.Properties) == 0 && len(s.Required) == 0:
		n.kind, n.item = dictionary, c.compile(others.Schema, depth-1)
	case others.Schema == nil && others.Has != nil && !*others.Has && len(s.Properties) <= maxMembers:
		n.members = make(map[string]member, len(s.Properties))
		for name, property := range s.Properties {
			for other := range n.members {
				if strings.EqualFold(name, other) {
					return unknown
				}
			}
			n.members[name] = member{bit: 1 << len(n.members), node: c.compile(property, depth-1)}
		}
		for _, name := range s.Required {
			m, ok := n.members[name]
			if !ok {
				return unknown
			}
			n.required |= m.bit
		}
	default:
		return unknown
	}
	s.MinProps, s.MaxProps, s.AdditionalProperties, s.Properties, s.Required = 0, nil, openapi3.AdditionalProperties{}, nil, nil
	return n
}

func whole(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func wholeOr(n *uint64) int64 {
	if n == nil {
		return math.MaxInt64
	}
	return whole(*n)
}
