package pgfault

// Kind is a statement's effect on its transaction, or the part of the protocol to which an event belongs.
type Kind uint8

const (
	// Statement neither opens nor ends a transaction.
	Statement Kind = iota
	// Begin opens a transaction: BEGIN, START TRANSACTION.
	Begin
	// Commit is COMMIT or END in any spelling, and RELEASE SAVEPOINT cockroach_restart, at which CockroachDB
	// commits. A simple query of several statements is a Commit if one of them is.
	Commit
	// Rollback is ROLLBACK or ABORT of a whole transaction. ROLLBACK TO SAVEPOINT is a Statement.
	Rollback
	// Prepare is the Parse message of the extended protocol. It runs nothing, but may cost a separate round trip.
	Prepare
	// Connect is the start of a connection, before the proxy dials the server. Its event has no SQL.
	Connect
)

// String returns the kind's name for messages.
func (k Kind) String() string {
	return [...]string{"statement", "begin", "commit", "rollback", "prepare", "connect"}[k]
}

// Event is one step of one connection. The rules see it before it reaches the server.
type Event struct {
	// Conn is the number of the connection through the proxy, from 1. Cancel requests do not count.
	Conn int
	// Seq is the number of the event in its connection, from 1. Connect is the first event.
	Seq  int
	Kind Kind
	// SQL is the normalised text. It has no comments and no trailing semicolon. Words outside quotes are in lower case, and white space is one space.
	// Statements of one simple query are joined by "; ".
	SQL string
	// Text is the text that the client sent, with its comments.
	Text string
	// Tables lists the tables that the text reads or writes, without its own CTEs. The proxy guesses them from the surrounding words, which is good
	// enough to select statements.
	Tables []string
	// Writes is true if the text contains INSERT, UPDATE, DELETE or MERGE.
	Writes bool
	// InTx is true if a transaction block is open before the statement runs. Without a block, the statement commits by itself, or together with its
	// pipeline.
	InTx bool
	// Extended is true in the extended protocol and false in the simple one.
	Extended bool

	values values
}

// Says reports whether the statement contains a value. It looks at string literals, bound parameters, and the elements of arrays in them. It compares
// only texts, so it also matches an equal value with another meaning.
func (e Event) Says(value string) bool { return e.values.have(value) }

// Executes reports whether the event runs SQL. Prepare and Connect do not.
func (e Event) Executes() bool { return e.Kind <= Rollback }
