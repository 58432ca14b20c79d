package pgscript

import "strings"

// state is the state of a session's transaction in CockroachDB.
type state int

const (
	none state = iota
	open
	failed
	committed // by RELEASE of the savepoint cockroach_restart
)

// indicator returns the byte that a client sees.
func (s state) indicator() byte { return [...]byte{'I', 'T', 'E', 'T'}[s] }

// transaction tracks a session's transaction.
type transaction struct {
	state     state
	savepoint bool // cockroach_restart is set
}

const (
	savepoint  = "savepoint cockroach_restart"
	release    = "release savepoint cockroach_restart"
	rollbackTo = "rollback to savepoint cockroach_restart"
)

// refusal returns the SQLSTATE with which the current state refuses a statement, or "" if the statement can run.
func (t *transaction) refusal(sql string) string {
	ends := verb(sql) == "commit" || sql == "rollback"
	switch {
	case t.state == committed && !ends:
		t.state = failed
		return "25000"
	case t.state == failed && !ends && (sql != rollbackTo || !t.savepoint):
		return "25P02"
	case (sql == release || sql == rollbackTo) && !t.savepoint:
		t.fail(sql)
		return "3B001"
	case (sql == savepoint || sql == release || sql == rollbackTo) && t.state == none:
		return "25P01"
	}
	return ""
}

// fail changes the state after a failed statement.
func (t *transaction) fail(sql string) {
	switch {
	case t.state == none:
	case verb(sql) == "commit":
		*t = transaction{}
	default:
		t.state = failed
	}
}

// run changes the state for a successful statement. If the command tag differs from the statement's verb, run returns the tag.
func (t *transaction) run(sql string) (tag string) {
	switch {
	case verb(sql) == "begin":
		*t = transaction{state: open}
	case sql == savepoint:
		t.savepoint = true
	case sql == release:
		t.state = committed
		return "RELEASE"
	case sql == rollbackTo:
		t.state = open
		return "ROLLBACK"
	case verb(sql) == "commit", sql == "rollback":
		tag = strings.ToUpper(verb(sql))
		switch t.state {
		case failed:
			tag = "ROLLBACK"
		case committed:
			tag = "COMMIT"
		case none, open:
		}
		*t = transaction{}
	}
	return tag
}

// verb returns the first word in lower case.
func verb(sql string) string {
	word, _, _ := strings.Cut(sql, " ")
	return strings.ToLower(word)
}
