package pgfault

import "github.com/jackc/pgx/v5/pgproto3"

// ownName is the name of the proxy's savepoint, prepared statement and portal. absentPortal is the name of a portal that never exists.
const (
	ownName      = "_pgfault"
	absentPortal = "_pgfault_absent"

	savepoint = "savepoint " + ownName
	rollback  = "rollback to savepoint " + ownName
	forget    = "release savepoint " + ownName
)

// substituteFor returns a simple query that puts the server into the state after a failure of the statement. A failed COMMIT ends the transaction, and
// any other failed statement aborts it.
func substituteFor(st *statement) string {
	if st.endsTx() {
		return "rollback"
	}
	return "select 1/0"
}

// executeSubstitute does the same in the extended protocol. The execution of a missing portal fails like any other statement
// and needs no Parse.
func (s *session) executeSubstitute(st *statement, a Action) {
	if st.endsTx() {
		s.inject("rollback", &step{kind: stepExecute, action: a})
		return
	}
	s.send(&pgproto3.Execute{Portal: absentPortal}, &step{kind: stepExecute, action: a})
}

// endsTx reports whether the statement is COMMIT and not RELEASE SAVEPOINT cockroach_restart. After a failed RELEASE, the transaction is still open.
func (s *statement) endsTx() bool { return s.kind == Commit && !s.release }

// withUndo adds savepoint statements to a simple query that undo its effects, and counts the client's statements. The result is one query instead of
// three: after a failure, the ROLLBACK TO SAVEPOINT must not run, because it would repair the transaction.
func withUndo(text string) (wrapped string, statements int) {
	// The line break ends a comment at the end of the text.
	return savepoint + ";" + text + "\n;" + rollback + ";" + forget, len(split(scan(text)))
}

// executeUndone does the same in the extended protocol, in which the server skips the rest up to Sync after a failure.
func (s *session) executeUndone(m *pgproto3.Execute, a Action) {
	hidden := func() *step { return &step{kind: stepExecute, hidden: true} }
	s.inject(savepoint, hidden())
	s.send(m, &step{kind: stepExecute, action: a})
	s.inject(rollback, hidden())
	s.inject(forget, hidden())
}

// inject adds a statement of the proxy to the client's pipeline. It uses its own names, so the client's unnamed statement and portal do not change.
func (s *session) inject(sql string, execute *step) {
	hidden := func(kind stepKind) *step { return &step{kind: kind, hidden: true} }
	s.send(&pgproto3.Parse{Name: ownName, Query: sql}, hidden(stepParse))
	s.send(&pgproto3.Bind{DestinationPortal: ownName, PreparedStatement: ownName}, hidden(stepBind))
	s.send(&pgproto3.Execute{Portal: ownName}, execute)
	s.send(&pgproto3.Close{ObjectType: 'P', Name: ownName}, hidden(stepClose))
	s.send(&pgproto3.Close{ObjectType: 'S', Name: ownName}, hidden(stepClose))
}
