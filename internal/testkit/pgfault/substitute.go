package pgfault

import "github.com/jackc/pgx/v5/pgproto3"

// own names the proxy's savepoint, prepared statement and portal; absent is a portal nobody opens.
const (
	own    = "_pgfault"
	absent = "_pgfault_absent"

	savepoint = "savepoint " + own
	rollback  = "rollback to savepoint " + own
	forget    = "release savepoint " + own
)

// inPlaceOf is the simple query that leaves the server where a failure of the statement would: a failed COMMIT has
// ended its transaction, anything else has aborted it.
func inPlaceOf(st *statement) string {
	if st.endsTx() {
		return "rollback"
	}
	return "select 1/0"
}

// executeInPlaceOf is the same for the extended protocol. Executing a portal that does not exist fails like any other
// statement, and needs no Parse.
func (s *session) executeInPlaceOf(st *statement, a Action) {
	if st.endsTx() {
		s.inject("rollback", &step{kind: stepExecute, action: a})
		return
	}
	s.send(&pgproto3.Execute{Portal: absent}, &step{kind: stepExecute, action: a})
}

// endsTx tells COMMIT from RELEASE SAVEPOINT cockroach_restart, after whose failure the transaction is still open.
func (s *statement) endsTx() bool { return s.kind == Commit && !s.release }

// undone puts a savepoint around a simple query that takes back all it does, and counts the statements inside. It is one
// query and not three, since a failure must not reach the ROLLBACK TO SAVEPOINT, which would mend the transaction.
func undone(text string) (wrapped string, statements int) {
	// The line break ends a comment at the end of the text.
	return savepoint + ";" + text + "\n;" + rollback + ";" + forget, len(split(scan(text)))
}

// executeUndone is the same for the extended protocol, where a failure makes the server skip the rest up to Sync.
func (s *session) executeUndone(m *pgproto3.Execute, a Action) {
	hidden := func() *step { return &step{kind: stepExecute, hidden: true} }
	s.inject(savepoint, hidden())
	s.send(m, &step{kind: stepExecute, action: a})
	s.inject(rollback, hidden())
	s.inject(forget, hidden())
}

// inject runs a statement of the proxy's in the middle of the client's pipeline. It has names of its own, so that the
// client's unnamed statement and portal stay as they are.
func (s *session) inject(sql string, execute *step) {
	hidden := func(kind stepKind) *step { return &step{kind: kind, hidden: true} }
	s.send(&pgproto3.Parse{Name: own, Query: sql}, hidden(stepParse))
	s.send(&pgproto3.Bind{DestinationPortal: own, PreparedStatement: own}, hidden(stepBind))
	s.send(&pgproto3.Execute{Portal: own}, execute)
	s.send(&pgproto3.Close{ObjectType: 'P', Name: own}, hidden(stepClose))
	s.send(&pgproto3.Close{ObjectType: 'S', Name: own}, hidden(stepClose))
}
