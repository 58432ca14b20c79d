package pgfault

import (
	"slices"
	"strings"
)

// tables lists the relations that a statement names after FROM, JOIN, INTO, UPDATE, USING or TABLE, without functions and without the statement's own
// CTEs. It looks only at words and does not parse the grammar. Use it only to select statements.
func tables(tokens []token) []string {
	ctes := cteNames(tokens)
	var out []string
	for i := range tokens {
		if !introducesTable(tokens, i) {
			continue
		}
		for _, name := range relationsAfter(tokens, i) {
			if !slices.Contains(ctes, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func introducesTable(tokens []token, i int) bool {
	previous := func(word string) bool { return i > 0 && tokens[i-1].is(word) }
	switch t := tokens[i]; {
	case t.is("join"), t.is("into"), t.is("using"), t.is("table"):
		return true
	case t.is("from"):
		return !previous("distinct")
	case t.is("update"):
		return !previous("for") && !previous("key") && !previous("do")
	}
	return false
}

// relationsAfter reads the relations after the word at i: "from a, b x, unnest(c) as d, (select …) e" lists a and b. The caller reads
// the contents of parentheses later.
func relationsAfter(tokens []token, i int) []string {
	into := tokens[i].is("into")
	var out []string
	for {
		name, next := relation(tokens, i+1)
		group := next < len(tokens) && tokens[next].punct("(")
		if name != "" && (into || !group) { // INSERT INTO a (columns), but FROM a (arguments)
			out = append(out, name)
		}
		if into {
			return out
		}
		if group {
			next = afterGroup(tokens, next)
		}
		if next < len(tokens) && tokens[next].is("as") {
			next++
		}
		if next < len(tokens) && tokens[next].kind == tokenWord { // an alias, or the end of the list
			next++
		}
		if next >= len(tokens) || !tokens[next].punct(",") {
			return out
		}
		i = next
	}
}

// relation reads [ONLY | LATERAL] name[.name…] at i. It returns the name as written, without quotes.
func relation(tokens []token, i int) (name string, after int) {
	for i < len(tokens) && (tokens[i].is("only") || tokens[i].is("lateral")) {
		i++
	}
	var parts []string
	for i < len(tokens) && (tokens[i].kind == tokenWord || tokens[i].kind == tokenQuoted) {
		parts = append(parts, strings.Trim(tokens[i].text, `"`))
		i++
		if i >= len(tokens) || !tokens[i].punct(".") {
			break
		}
		i++
	}
	return strings.Join(parts, "."), i
}

// afterGroup returns the index after the parenthesis that closes the one at i.
func afterGroup(tokens []token, i int) int {
	for depth := 0; i < len(tokens); i++ {
		switch {
		case tokens[i].punct("("):
			depth++
		case tokens[i].punct(")"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// cteNames finds "name AS [NOT] [MATERIALIZED] (", a form that only CTEs have.
func cteNames(tokens []token) []string {
	var out []string
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i].kind != tokenWord || !tokens[i+1].is("as") {
			continue
		}
		next := i + 2
		for next < len(tokens) && (tokens[next].is("not") || tokens[next].is("materialized")) {
			next++
		}
		if next < len(tokens) && tokens[next].punct("(") {
			out = append(out, tokens[i].text)
		}
	}
	return out
}
