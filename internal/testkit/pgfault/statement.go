package pgfault

import (
	"slices"
	"strings"
)

// statement is the result of the analysis of one text. The proxy analyses a text once, and keeps the result as long as the client may execute the
// text.
type statement struct {
	text    string // as the client sent it
	sql     string // normalised
	kind    Kind
	effects []Kind // effect of each statement of the text on the transaction block, in order
	tables  []string
	// The string literals of the text, without quotes and prefixes.
	literals []string
	writes   bool
	release  bool // its commit is RELEASE SAVEPOINT cockroach_restart, which leaves the transaction block open
}

func analyse(text string) *statement {
	s := &statement{text: text}
	var sql []string
	var kinds []Kind
	for _, tokens := range split(scan(text)) {
		s.literals = append(s.literals, literals(tokens)...)
		kind, release := classify(tokens)
		kinds = append(kinds, kind)
		if release {
			s.release, kind = true, Statement
		}
		s.effects = append(s.effects, kind)
		s.writes = s.writes || writes(tokens)
		for _, t := range tables(tokens) {
			if !slices.Contains(s.tables, t) {
				s.tables = append(s.tables, t)
			}
		}
		sql = append(sql, render(tokens))
	}
	s.sql = strings.Join(sql, "; ")
	s.kind = overall(kinds)
	return s
}

// overall returns the kind of a text. If the text contains a Commit, the kind is Commit, because a fault then leaves the outcome of the whole text
// open. Otherwise it is the common kind of all its statements, or Statement if the kinds differ.
func overall(kinds []Kind) Kind {
	switch {
	case len(kinds) == 0:
		return Statement
	case slices.Contains(kinds, Commit):
		return Commit
	case slices.ContainsFunc(kinds, func(k Kind) bool { return k != kinds[0] }):
		return Statement
	}
	return kinds[0]
}

func classify(tokens []token) (kind Kind, release bool) {
	word := func(i int) string {
		if i < len(tokens) && tokens[i].kind == tokenWord {
			return tokens[i].text
		}
		return ""
	}
	second := word(1)
	switch word(0) {
	case "begin":
		return Begin, false
	case "start":
		if second == "transaction" {
			return Begin, false
		}
	case "commit", "end":
		if second != "prepared" {
			return Commit, false
		}
	case "release":
		if second == "cockroach_restart" || second == "savepoint" && word(2) == "cockroach_restart" {
			return Commit, true
		}
	case "rollback", "abort":
		if second != "prepared" && second != "to" && word(2) != "to" {
			return Rollback, false
		}
	}
	return Statement, false
}

// inTxAfter reports whether a transaction block is open after the statements of the text.
func (s *statement) inTxAfter(inTx bool) bool {
	for _, kind := range s.effects {
		switch kind {
		case Begin:
			inTx = true
		case Commit, Rollback:
			inTx = false
		default: // other kinds leave the block unchanged
		}
	}
	return inTx
}

// writes reports whether tokens contain a DML verb. FOR UPDATE and FOR NO KEY UPDATE lock and do not write.
func writes(tokens []token) bool {
	for i, t := range tokens {
		switch {
		case t.is("insert"), t.is("delete"), t.is("merge"):
			return true
		case t.is("update"):
			if i == 0 || !tokens[i-1].is("for") && !tokens[i-1].is("key") {
				return true
			}
		}
	}
	return false
}
