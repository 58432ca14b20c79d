package fastvalidate

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const (
	// maxDigits is the largest number of digits in an integer. Every parser reads such an integer as the same number, even if it uses binary floats.
	maxDigits  = 15
	maxInteger = 999_999_999_999_999
	// maxNames is the largest number of names that the caller chooses in one object. The scan compares each name with all others.
	maxNames = 16
)

// scan reads a text from front to back.
type scan struct {
	data   []byte
	at     int
	tokens int
	limits Limits
}

// value reads a value and reports whether it certainly fits n.
func (s *scan) value(n *node) bool {
	s.space()
	if !s.token() {
		return false
	}
	switch n.kind {
	case text:
		raw, ok := s.text()
		return ok && holds(n, raw)
	case integer:
		value, ok := s.integer()
		return ok && n.least <= value && value <= n.most
	case boolean:
		return s.word("true") || s.word("false")
	case list:
		return s.list(n)
	case record:
		return s.record(n)
	case dictionary:
		return s.dictionary(n)
	default:
		return false
	}
}

// token counts a value, a name or a bracket.
func (s *scan) token() bool {
	s.tokens++
	return s.tokens <= s.limits.Tokens
}

func (s *scan) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next consumes an expected character.
func (s *scan) next(c byte) bool {
	if s.at == len(s.data) || s.data[s.at] != c {
		return false
	}
	s.at++
	return true
}

// ends consumes a closing bracket.
func (s *scan) ends(bracket byte) bool {
	s.space()
	return s.next(bracket) && s.token()
}

func (s *scan) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// text reads a string that contains no escapes.
func (s *scan) text() (raw []byte, ok bool) {
	if !s.next('"') {
		return nil, false
	}
	start, high := s.at, byte(0)
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		switch {
		case c == '"':
			raw = s.data[start:s.at]
			s.at++
			return raw, high < utf8.RuneSelf || utf8.Valid(raw)
		case c < ' ' || c == '\\':
			return nil, false
		}
		high |= c
	}
	return nil, false
}

func (s *scan) integer() (value int64, ok bool) {
	start := s.at
	for ; s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9'; s.at++ {
		if s.at-start == maxDigits {
			return 0, false
		}
		value = value*10 + int64(s.data[s.at]-'0')
	}
	digits := s.at - start
	return value, digits == 1 || digits > 1 && s.data[start] != '0'
}

func (s *scan) list(n *node) bool {
	if !s.next('[') {
		return false
	}
	count := int64(0)
	for s.space(); s.at < len(s.data) && s.data[s.at] != ']'; s.space() {
		if count > 0 && !s.next(',') {
			return false
		}
		if count++; count > n.most || !s.value(n.item) {
			return false
		}
	}
	return s.ends(']') && count >= n.least
}

// name reads a member's name and its colon.
func (s *scan) name(first bool) (raw []byte, ok bool) {
	if !first && !s.next(',') {
		return nil, false
	}
	s.space()
	if raw, ok = s.text(); !ok || len(raw) > s.limits.Name || !s.token() {
		return nil, false
	}
	s.space()
	return raw, s.next(':')
}

func (s *scan) record(n *node) bool {
	if !s.next('{') {
		return false
	}
	seen, count := uint64(0), int64(0)
	for s.space(); s.at < len(s.data) && s.data[s.at] != '}'; s.space() {
		name, ok := s.name(count == 0)
		if !ok {
			return false
		}
		m, ok := n.members[string(name)]
		if !ok || seen&m.bit != 0 || !s.value(m.node) {
			return false
		}
		seen |= m.bit
		count++
	}
	return s.ends('}') && seen&n.required == n.required && n.least <= count && count <= n.most
}

func (s *scan) dictionary(n *node) bool {
	if !s.next('{') {
		return false
	}
	var names [maxNames][]byte
	count := 0
	for s.space(); s.at < len(s.data) && s.data[s.at] != '}'; s.space() {
		name, ok := s.name(count == 0)
		if !ok || count == maxNames {
			return false
		}
		for _, other := range names[:count] {
			if bytes.EqualFold(name, other) {
				return false
			}
		}
		names[count] = name
		count++
		if !s.value(n.item) {
			return false
		}
	}
	return s.ends('}') && n.least <= int64(count) && int64(count) <= n.most
}

// holds reports whether a UTF-8 text fits n.
func holds[T string | []byte](n *node, raw T) bool {
	// The limits count characters, but len counts bytes, and a text has at most as many characters as bytes. If a text has too many bytes, the full
	// validation decides.
	if length := int64(len(raw)); length < n.least || length > n.most {
		return false
	}
	if n.least > 1 && int64(utf8.RuneCountInString(string(raw))) < n.least {
		return false
	}
	if n.choices != nil && !slices.ContainsFunc(n.choices, func(choice string) bool { return choice == string(raw) }) {
		return false
	}
	return n.pattern == nil || match(n.pattern, raw)
}
