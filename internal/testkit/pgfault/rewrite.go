package pgfault

import "strings"

type rewriteRule func(sql string) string

func (r rewriteRule) addTo(s *ruleSet) { s.rewrites = append(s.rewrites, r) }

// RewriteSQL changes the text of every statement on its way to the server. It changes Parse in the extended protocol and Query in the simple
// protocol. The function gets the client's text, including comments. Events keep the client's text. A statement that was prepared before the rule was
// set does not change.
func RewriteSQL(f func(sql string) string) Rule { return rewriteRule(f) }

// StripLocks removes FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR KEY SHARE from every statement, with OF, NOWAIT and SKIP LOCKED. On CockroachDB
// such locks are best effort and may be lost. If a test passes under this rule, correctness does not depend on these locks.
func StripLocks() Rule { return RewriteSQL(stripLocks) }

func stripLocks(sql string) string {
	tokens := scan(sql)
	var b strings.Builder
	kept := 0
	for i := 0; i < len(tokens); {
		end := lockingClause(tokens, i)
		if end == i {
			i++
			continue
		}
		b.WriteString(sql[kept:tokens[i].start])
		kept = tokens[end-1].end
		i = end
	}
	b.WriteString(sql[kept:])
	return b.String()
}

// lockingClause returns the index after the locking clause that starts at i, or i if none starts there.
func lockingClause(tokens []token, i int) int {
	at := func(i int, word string) bool { return i < len(tokens) && tokens[i].is(word) }
	if !at(i, "for") {
		return i
	}
	end := i + 1
	if at(end, "no") {
		end++
	}
	if at(end, "key") {
		end++
	}
	if !at(end, "update") && !at(end, "share") {
		return i
	}
	end++
	if at(end, "of") {
		_, end = relation(tokens, end+1)
		for end < len(tokens) && tokens[end].punct(",") {
			_, end = relation(tokens, end+1)
		}
	}
	switch {
	case at(end, "nowait"):
		end++
	case at(end, "skip") && at(end+1, "locked"):
		end += 2
	}
	return end
}
