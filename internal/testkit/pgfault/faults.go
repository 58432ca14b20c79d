package pgfault

import (
	"time"
)

const byUs = " (injected by pgfault)"

// CommitSerializationFailure rolls back at COMMIT and returns 40001. That is a definite failure, after which the client may retry. The transaction
// has ended, as on CockroachDB. At RELEASE SAVEPOINT cockroach_restart, the transaction is aborted but still open.
func CommitSerializationFailure() Fault {
	return On(Commit, always(Action{
		Name: "CommitSerializationFailure", Drop: true, Answer: Error, Code: "40001",
		Message: "restart transaction: TransactionRetryWithProtoRefreshError",
	}))
}

// StatementSerializationFailure fails a statement with 40001 and leaves its transaction aborted.
func StatementSerializationFailure() Fault {
	return On(Statement, always(Action{
		Name: "StatementSerializationFailure", Drop: true, Answer: Error, Code: "40001",
		Message: "restart transaction: TransactionRetryWithProtoRefreshError",
	}))
}

// CommittedAnswerLost executes COMMIT and cuts the client off without a response.
func CommittedAnswerLost() Fault { return Named("CommittedAnswerLost", On(Commit, AnswerLost())) }

// LostBeforeCommit cuts the connection before COMMIT reaches the server.
func LostBeforeCommit() Fault { return Named("LostBeforeCommit", On(Commit, ConnectionLost())) }

// CommitAmbiguous40003 executes COMMIT and returns "statement completion unknown".
func CommitAmbiguous40003() Fault {
	return On(Commit, always(Action{
		Name: "CommitAmbiguous40003", Answer: Error, Code: "40003", Message: "result is ambiguous",
	}))
}

// RolledBackAmbiguous40003 rolls back at COMMIT and returns "statement completion unknown". The client cannot distinguish
// it from CommitAmbiguous40003, and must be correct in both cases.
func RolledBackAmbiguous40003() Fault {
	return On(Commit, always(Action{
		Name: "RolledBackAmbiguous40003", Drop: true, Answer: Error, Code: "40003", Message: "result is ambiguous",
	}))
}

// Drain57P01 returns FATAL 57P01 for a statement of any kind and ends the connection. The statement does not execute.
func Drain57P01() Fault {
	return executed(Action{
		Name: "Drain57P01", Drop: true, Answer: Fatal, Code: "57P01", Message: "server is shutting down",
	})
}

// CommittedThenDrain57P01 executes COMMIT and returns FATAL 57P01.
func CommittedThenDrain57P01() Fault {
	return On(Commit, always(Action{
		Name: "CommittedThenDrain57P01", Answer: Fatal, Code: "57P01", Message: "server is shutting down",
	}))
}

// RangeUnavailable58C00 fails a statement with CockroachDB's "range unavailable" and leaves its transaction aborted.
func RangeUnavailable58C00() Fault {
	return Named("RangeUnavailable58C00", On(Statement, SQLState("58C00")))
}

// SQLState returns a definite error for a statement of any kind. The statement does not execute. Its transaction is aborted, or has ended if the
// statement was COMMIT.
func SQLState(code string) Fault {
	return executed(Action{
		Name: "SQLState " + code, Drop: true, Answer: Error, Code: code, Message: "SQLSTATE " + code,
	})
}

// CommittedThenError executes COMMIT and returns an error. At COMMIT, 57014, 58C00, 53200 and XXUUU leave the outcome open
// like 40003.
func CommittedThenError(code string) Fault {
	return On(Commit, always(Action{
		Name: "CommittedThenError " + code, Answer: Error, Code: code, Message: "SQLSTATE " + code,
	}))
}

// SlowCommit delays COMMIT. If the client's deadline passes during the delay, the client sees no response, but the COMMIT still executes.
func SlowCommit(d time.Duration) Fault {
	return On(Commit, always(Action{Name: "SlowCommit", Delay: d}))
}

// ConnectRefused returns a FATAL error at the start of a connection. Examples are 53300 (too many connections) and 57P03 (starting up).
func ConnectRefused(code string) Fault {
	return On(Connect, always(Action{
		Name: "ConnectRefused " + code, Drop: true, Answer: Fatal, Code: code, Message: "SQLSTATE " + code,
	}))
}

// AnswerLost executes a statement of any kind and cuts the client off at the end of its round trip. A statement outside a
// transaction has committed by then.
func AnswerLost() Fault { return executed(Action{Name: "AnswerLost", Answer: Nothing}) }

// ConnectionLost cuts the connection before a statement of any kind.
func ConnectionLost() Fault {
	return executed(Action{Name: "ConnectionLost", Drop: true, Answer: Nothing})
}

// NoRows returns no rows for a statement, as if no row matched. Inside a transaction block, the proxy undoes the statement's effects and row locks
// with a savepoint. The statement may therefore be a DELETE around a locking SELECT. Outside a block, a statement that writes passes unchanged,
// because the proxy could not undo it. The fault applies to all statements of a simple query together.
func NoRows() Fault {
	return executed(Action{Name: "NoRows", Answer: Empty}).when(func(e Event) bool { return e.Kind == Statement && (e.InTx || !e.Writes) })
}

// Latency waits d before each round trip of every kind, including Connect and Prepare.
func Latency(d time.Duration) Fault { return always(Action{Name: "Latency", Delay: d}) }

// Hold delays statements until the gate opens. A held statement reaches the server even if the client has given up. This simulates a COMMIT that
// arrives after its request has timed out.
func Hold(g *Gate) Fault { return executed(Action{Name: "Hold", Hold: g}) }

// Partition cuts the network between all clients and the server before a statement is sent. Sockets stay open, and
// Proxy.Heal delivers all delayed bytes.
func Partition() Fault { return executed(Action{Name: "Partition", Cut: CutBefore}) }

// PartitionAfter cuts the network after the execution of a statement and before its client sees the response.
func PartitionAfter() Fault { return executed(Action{Name: "PartitionAfter", Cut: CutAfter}) }

func (f Fault) when(match func(Event) bool) Fault { return When(match, f) }

func always(a Action) Fault { return func(Event) Action { return a } }

func executed(a Action) Fault { return When(Event.Executes, always(a)) }
