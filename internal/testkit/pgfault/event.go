package pgfault

// Kind says what a statement does to its transaction, or which part of the conversation an event is.
type Kind uint8

const (
	// Statement is anything that neither opens nor ends a transaction.
	Statement Kind = iota
	// Begin opens a transaction: BEGIN, START TRANSACTION.
	Begin
	// Commit is COMMIT or END in any spelling, and RELEASE SAVEPOINT cockroach_restart, which is where CockroachDB
	// commits. A simple query of several statements is a Commit when one of them is.
	Commit
	// Rollback is ROLLBACK or ABORT of a whole transaction; ROLLBACK TO SAVEPOINT is a Statement.
	Rollback
	// Prepare is the Parse message of the extended protocol. Nothing runs, but it may cost a round trip of its own.
	Prepare
	// Connect is the start-up of a connection, before the server has been dialled. Its event has no SQL.
	Connect
)

// String names the kind in messages.
func (k Kind) String() string {
	return [...]string{"statement", "begin", "commit", "rollback", "prepare", "connect"}[k]
}

// Event is one step of one connection, shown to the rules before it reaches the server.
type Event struct {
	// Conn numbers the connections through the proxy from 1; cancel requests are not counted.
	Conn int
	// Seq numbers the events of one connection from 1; Connect is the first.
	Seq  int
	Kind Kind
	// SQL is the normalised text: no comments, words outside quotes in lower case, runs of white space as one
	// space, no trailing semicolon. Statements of one simple query are joined by "; ".
	SQL string
	// Text is what the client sent, with its comments.
	Text string
	// Tables names what the text reads from or writes to, without the names of its own CTEs: a guess from the
	// words around it, good enough to choose statements by.
	Tables []string
	// Writes says that the text contains INSERT, UPDATE, DELETE or MERGE.
	Writes bool
	// InTx says that a transaction block is open before the statement runs. Without one, the statement is its
	// own commit, or shares the implicit commit of its pipeline.
	InTx bool
	// Extended tells the extended protocol from the simple one.
	Extended bool

	values values
}

// Says reports whether the statement says a value: as a string literal, or as a bound parameter or an element of one that
// is an array. Texts are compared as they are, so a value that stands for something else as well is taken for it.
func (e Event) Says(value string) bool { return e.values.have(value) }

// Executes says that the event runs SQL: it is neither Prepare nor Connect.
func (e Event) Executes() bool { return e.Kind <= Rollback }
