package pgfault

import "strings"

// tokenKind separates words from other tokens, so that a literal or a quoted name never counts as a keyword.
type tokenKind uint8

const (
	tokenWord    tokenKind = iota // keyword or unquoted name; text is in lower case
	tokenQuoted                   // "quoted name", quotes included
	tokenLiteral                  // 'string', E'string' without its prefix, $tag$string$tag$
	tokenOther                    // number, parameter or one byte of punctuation
)

// token is one lexical element of a statement; start and end are byte offsets in its text.
type token struct {
	kind       tokenKind
	text       string
	start, end int
	spaced     bool // white space or a comment precedes it
}

func (t token) is(word string) bool { return t.kind == tokenWord && t.text == word }

func (t token) punct(p string) bool { return t.kind == tokenOther && t.text == p }

// scan splits SQL into tokens and drops comments. It never fails. An unclosed literal or comment extends to the end of the text, and the server
// reports the error. Strings follow standard_conforming_strings=on, the only setting that CockroachDB has.
func scan(sql string) []token {
	var out []token
	spaced := false
	for i := 0; i < len(sql); {
		start := i
		kind := tokenOther
		switch c := sql[i]; {
		case isSpace(c):
			i, spaced = i+1, true
			continue
		case strings.HasPrefix(sql[i:], "--"):
			i, spaced = endOfLine(sql, i), true
			continue
		case strings.HasPrefix(sql[i:], "/*"):
			i, spaced = endOfBlockComment(sql, i), true
			continue
		case c == '\'':
			kind, i = tokenLiteral, endOfQuoted(sql, i, '\'', followsEscapePrefix(out, i))
		case c == '"':
			kind, i = tokenQuoted, endOfQuoted(sql, i, '"', false)
		case c == '$':
			if end, ok := endOfDollarQuoted(sql, i); ok {
				kind, i = tokenLiteral, end
			} else {
				i = endOfWord(sql, i+1)
			}
		case isWordStart(c):
			kind, i = tokenWord, endOfWord(sql, i)
		case isDigit(c):
			i = endOfWord(sql, i)
		default:
			i++
		}
		text := sql[start:i]
		if kind == tokenWord {
			text = strings.ToLower(text)
		}
		out = append(out, token{kind: kind, text: text, start: start, end: i, spaced: spaced})
		spaced = false
	}
	return out
}

// split splits tokens into statements at semicolons outside parentheses, and drops empty statements.
func split(tokens []token) [][]token {
	var out [][]token
	depth, from := 0, 0
	cut := func(to int) {
		if to > from {
			out = append(out, tokens[from:to])
		}
		from = to + 1
	}
	for i, t := range tokens {
		switch {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case t.punct(";") && depth == 0:
			cut(i)
		}
	}
	cut(len(tokens))
	return out
}

// render returns tokens as normalised text: words in lower case, no comments, and white space as single spaces.
func render(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.spaced {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(c byte) bool {
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80
}

func endOfWord(sql string, i int) int {
	for i < len(sql) && (isWordStart(sql[i]) || isDigit(sql[i]) || sql[i] == '$') {
		i++
	}
	return i
}

func endOfLine(sql string, i int) int {
	if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(sql)
}

// endOfBlockComment returns the end of a block comment. It handles nested comments, like both engines.
func endOfBlockComment(sql string, i int) int {
	depth := 0
	for i < len(sql) {
		switch {
		case strings.HasPrefix(sql[i:], "/*"):
			depth, i = depth+1, i+2
		case strings.HasPrefix(sql[i:], "*/"):
			depth, i = depth-1, i+2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

func endOfQuoted(sql string, i int, quote byte, backslash bool) int {
	for i++; i < len(sql); i++ {
		switch {
		case backslash && sql[i] == '\\':
			i++
		case sql[i] != quote:
		case i+1 < len(sql) && sql[i+1] == quote: // a doubled quote stands for itself
			i++
		default:
			return i + 1
		}
	}
	return len(sql)
}

// followsEscapePrefix reports whether the quote at offset i belongs to an E'…' literal.
func followsEscapePrefix(before []token, i int) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	return last.end == i && last.is("e")
}

func endOfDollarQuoted(sql string, i int) (int, bool) {
	tag := i + 1
	if tag < len(sql) && isDigit(sql[tag]) { // $1 is a parameter
		return 0, false
	}
	for tag < len(sql) && (isWordStart(sql[tag]) || isDigit(sql[tag])) {
		tag++
	}
	if tag >= len(sql) || sql[tag] != '$' {
		return 0, false
	}
	delimiter := sql[i : tag+1]
	if n := strings.Index(sql[tag+1:], delimiter); n >= 0 {
		return tag + 1 + n + len(delimiter), true
	}
	return len(sql), true
}
