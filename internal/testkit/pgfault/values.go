package pgfault

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// values holds the string literals and the bound parameters of a statement.
type values struct {
	literals []string
	bound    []string
}

func (v values) have(value string) bool {
	return slices.Contains(v.literals, value) || slices.Contains(v.bound, value)
}

// portal is a statement with its parameters.
type portal struct {
	*statement

	bound []string
}

// maxValue is the maximum size of a parameter that the proxy keeps, in bytes. Rules look only for short names, so the proxy need not copy large
// documents.
const maxValue = 1 << 10

func (s *session) bind(m *pgproto3.Bind) {
	st := s.statements[m.PreparedStatement]
	if st == nil {
		delete(s.portals, m.DestinationPortal)
		return
	}
	p := &portal{statement: st}
	for _, raw := range m.Parameters {
		if len(raw) > 0 && len(raw) <= maxValue {
			p.bound = append(p.bound, stringsIn(raw)...)
		}
	}
	s.portals[m.DestinationPortal] = p
}

// stringsIn returns the texts in a parameter. A parameter is a text, or an array of texts in either format. Its type is unknown here, so a number
// also becomes a text, but no rule looks for such a text.
func stringsIn(raw []byte) []string {
	if array, ok := binaryArray(raw); ok {
		return array
	}
	return elements(string(raw))
}

// elements returns the elements of an array in text form, or the text itself.
func elements(text string) []string {
	inner, opened := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return []string{text}
	}
	out := strings.Split(inner, ",")
	for i, e := range out {
		out[i] = strings.Trim(e, `"`)
	}
	return out
}

// binaryArray reads an array of one dimension in binary format. The header has the number of dimensions, flags, type, length and lower bound, with 4
// bytes each. Each element then follows, after its length.
func binaryArray(raw []byte) ([]string, bool) {
	const head = 20
	if len(raw) < head || binary.BigEndian.Uint32(raw) != 1 || binary.BigEndian.Uint32(raw[4:]) > 1 {
		return nil, false
	}
	n := int(binary.BigEndian.Uint32(raw[12:]))
	var out []string
	for rest := raw[head:]; len(out) < n; {
		if len(rest) < 4 {
			return nil, false
		}
		size := int(int32(binary.BigEndian.Uint32(rest))) //nolint:gosec // -1 stands for NULL
		rest = rest[4:]
		if size > len(rest) {
			return nil, false
		}
		size = max(size, 0)
		out, rest = append(out, string(rest[:size])), rest[size:]
	}
	return out, true
}

// literals returns the strings among tokens without their quotes, and the elements of literals that are arrays. Escapes stay as written.
func literals(tokens []token) []string {
	var out []string
	for _, t := range tokens {
		if t.kind != tokenLiteral {
			continue
		}
		quote := t.text[:1]
		if quote == "$" {
			quote = t.text[:strings.Index(t.text[1:], "$")+2]
		}
		out = append(out, elements(strings.TrimSuffix(t.text[len(quote):], quote))...)
	}
	return out
}
