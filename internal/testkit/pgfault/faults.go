package pgfault

import (
	"time"
)

const byUs = " (injected by pgfault)"

// CommitSerializationFailure rolls back at COMMIT and answers 40001: a definite failure, to be run again. After it the
// transaction is over, as on CockroachDB; at RELEASE SAVEPOINT cockroach_restart it is aborted and still open.
func CommitSerializationFailure() Fault {
	return On(Commit, always(Action{
		Name: "CommitSerializationFailure", Drop: true, Answer: Error, Code: "40001",
		Message: "restart transaction: TransactionRetryWithProtoRefreshError",
	}))
}

// StatementSerializationFailure answers 40001 to a statement and leaves its transaction aborted.
func StatementSerializationFailure() Fault {
	return On(Statement, always(Action{
		Name: "StatementSerializationFailure", Drop: true, Answer: Error, Code: "40001",
		Message: "restart transaction: TransactionRetryWithProtoRefreshError",
	}))
}

// CommittedAnswerLost lets COMMIT happen and cuts the client off instead of telling it.
func CommittedAnswerLost() Fault { return Named("CommittedAnswerLost", On(Commit, AnswerLost())) }

// LostBeforeCommit cuts the connection when COMMIT is seen, which does not happen.
func LostBeforeCommit() Fault { return Named("LostBeforeCommit", On(Commit, ConnectionLost())) }

// CommitAmbiguous40003 lets COMMIT happen and answers "statement completion unknown".
func CommitAmbiguous40003() Fault {
	return On(Commit, always(Action{
		Name: "CommitAmbiguous40003", Answer: Error, Code: "40003", Message: "result is ambiguous",
	}))
}

// RolledBackAmbiguous40003 rolls back at COMMIT and answers "statement completion unknown": the client cannot tell it
// from CommitAmbiguous40003, and must be right both times.
func RolledBackAmbiguous40003() Fault {
	return On(Commit, always(Action{
		Name: "RolledBackAmbiguous40003", Drop: true, Answer: Error, Code: "40003", Message: "result is ambiguous",
	}))
}

// Drain57P01 answers FATAL 57P01 to a statement of any kind, which does not happen, and ends the connection.
func Drain57P01() Fault {
	return executed(Action{
		Name: "Drain57P01", Drop: true, Answer: Fatal, Code: "57P01", Message: "server is shutting down",
	})
}

// CommittedThenDrain57P01 lets COMMIT happen and answers FATAL 57P01 in its place.
func CommittedThenDrain57P01() Fault {
	return On(Commit, always(Action{
		Name: "CommittedThenDrain57P01", Answer: Fatal, Code: "57P01", Message: "server is shutting down",
	}))
}

// RangeUnavailable58C00 answers CockroachDB's "range unavailable" to a statement and leaves its transaction aborted.
func RangeUnavailable58C00() Fault {
	return Named("RangeUnavailable58C00", On(Statement, SQLState("58C00")))
}

// SQLState answers a definite error to a statement of any kind, which does not happen: its transaction is aborted, or
// over if the statement was COMMIT.
func SQLState(code string) Fault {
	return executed(Action{
		Name: "SQLState " + code, Drop: true, Answer: Error, Code: code, Message: "SQLSTATE " + code,
	})
}

// CommittedThenError lets COMMIT happen and answers an error in its place: 57014, 58C00, 53200 and XXUUU say as little about
// the outcome there as 40003.
func CommittedThenError(code string) Fault {
	return On(Commit, always(Action{
		Name: "CommittedThenError " + code, Answer: Error, Code: code, Message: "SQLSTATE " + code,
	}))
}

// SlowCommit keeps COMMIT back for a time. A client whose deadline passes meanwhile learns nothing, and the COMMIT happens.
func SlowCommit(d time.Duration) Fault {
	return On(Commit, always(Action{Name: "SlowCommit", Delay: d}))
}

// ConnectRefused answers a FATAL error to the start-up of a connection: 53300 too many connections, 57P03 starting up.
func ConnectRefused(code string) Fault {
	return On(Connect, always(Action{
		Name: "ConnectRefused " + code, Drop: true, Answer: Fatal, Code: code, Message: "SQLSTATE " + code,
	}))
}

// AnswerLost lets a statement of any kind happen and cuts the client off at the end of its round trip. For a statement
// outside a transaction that is its commit.
func AnswerLost() Fault { return executed(Action{Name: "AnswerLost", Answer: Nothing}) }

// ConnectionLost cuts the connection before a statement of any kind.
func ConnectionLost() Fault {
	return executed(Action{Name: "ConnectionLost", Drop: true, Answer: Nothing})
}

// NoRows answers no rows to a statement, as if what it looks for were not there. Inside a transaction block its effects and
// row locks are undone through a savepoint, so it may be a DELETE around a locking SELECT. Outside one a statement that
// writes is let through, since nothing could undo it. Statements that share a simple query share its fate.
func NoRows() Fault {
	return executed(Action{Name: "NoRows", Answer: Empty}).when(func(e Event) bool { return e.Kind == Statement && (e.InTx || !e.Writes) })
}

// Latency waits d before each round trip of every kind, connecting and preparing included.
func Latency(d time.Duration) Fault { return always(Action{Name: "Latency", Delay: d}) }

// Hold keeps statements back until the gate opens. What is held is on its way: it reaches the server then even if the
// client has given up meanwhile, as a COMMIT may that lands after its request has timed out.
func Hold(g *Gate) Fault { return executed(Action{Name: "Hold", Hold: g}) }

// Partition cuts the network between all clients and the server before a statement is sent; sockets stay open and
// everything on its way arrives when Proxy.Heal is called.
func Partition() Fault { return executed(Action{Name: "Partition", Cut: CutBefore}) }

// PartitionAfter cuts the network when a statement has happened and before its client is told.
func PartitionAfter() Fault { return executed(Action{Name: "PartitionAfter", Cut: CutAfter}) }

func (f Fault) when(match func(Event) bool) Fault { return When(match, f) }

func always(a Action) Fault { return func(Event) Action { return a } }

func executed(a Action) Fault { return When(Event.Executes, always(a)) }
