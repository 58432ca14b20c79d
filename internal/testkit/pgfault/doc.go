// Package pgfault is a loopback proxy between a PostgreSQL client and its server. It injects faults. A test chooses the statement and the kind of
// fault, and knows the fault's effect. The proxy parses the wire protocol and the statements. Unlike a TCP proxy, it can therefore recognise a
// COMMIT.
//
//	proxy, err := pgfault.Start(ctx, dsn, pgfault.Once(pgfault.CommittedAnswerLost()))
//	pool, err := pgxpool.New(ctx, proxy.DSN())
//
// A fault decides two things: whether the statement takes effect, and which response the client sees.
//
//	fault                          at         takes effect           the client sees         it may conclude
//	CommitSerializationFailure     Commit     no, rolled back        40001                   definite: run again
//	StatementSerializationFailure  Statement  no, aborted            40001                   definite: run again
//	CommittedAnswerLost            Commit     yes                    nothing, cut            unknown
//	LostBeforeCommit               Commit     no, rolled back        nothing, cut            unknown
//	CommitAmbiguous40003           Commit     yes                    40003                   unknown
//	RolledBackAmbiguous40003       Commit     no, rolled back        40003                   unknown
//	CommittedThenDrain57P01        Commit     yes                    FATAL 57P01, cut        unknown
//	Drain57P01                     any        no, rolled back        FATAL 57P01, cut        Commit: unknown; else run again
//	RangeUnavailable58C00          Statement  no, aborted            58C00                   run again, slowly
//	SQLState(code)                 any        no, aborted or over    code                    as the code says
//	CommittedThenError(code)       Commit     yes                    code                    unknown
//	ConnectRefused(code)           Connect    no                     FATAL code              as the code says
//	AnswerLost                     any        yes                    nothing, cut            in a transaction: run again; else unknown
//	ConnectionLost                 any        no, rolled back        nothing, cut            Commit: unknown; else run again
//	NoRows                         Statement  no, undone             no rows                 nothing: it must read again
//	Latency(d)                     all        yes                    the truth, late         -
//	Distances.Latency()            Statement  yes                    the truth, late         -
//	SlowCommit(d)                  Commit     yes, late              the truth, if there     a deadline at Commit: unknown
//	Hold(gate)                     any        when the gate opens    the truth, if there     a deadline at Commit: unknown
//	Partition                      any        after Heal             the truth, if there     a deadline at Commit: unknown
//	PartitionAfter                 any        yes                    after Heal              a deadline at Commit: unknown
//	RewriteSQL(f), StripLocks      all        as rewritten           the truth               -
//
// Some SQLSTATEs have no fault with their name. Use ConnectRefused or SQLState for 53300, and SQLState for 55P03, 57014 and XXUUU on statements. At
// COMMIT, 57014 and XXUUU leave the outcome open, so use CommittedThenError. Proxy.Sever cuts the current connections. Proxy.Partition stops all
// traffic to the server until Proxy.Heal.
//
// "Any" is every statement that runs, including COMMIT. "All" also includes Connect and Prepare. Wrappers choose the statement: On, OnlySQL,
// OnlyTable, When, Nth, First, Once, Probability. Faults made from Fault and Action work like these.
//
// Guarantees:
//
//   - The effect or the rollback is complete before the client sees the response. When the client sees the error, the database shows the outcome. If
//     a client gives up by itself, or is cut off inside a transaction that has run, AwaitEnd waits until the server has ended the session.
//   - Tests need no sleeps, because AwaitInjected, AwaitCancel, AwaitEnd, AwaitIdle and Gate.Await wait for a state.
//   - The server's state matches the response. A failed statement really has aborted its transaction, and a failed COMMIT really has ended it. The
//     proxy simulates nothing that the server can do.
//   - Faults work in the simple and the extended protocol, with named and unnamed prepared statements, in pipelines, and with a COMMIT inside them.
//     The proxy declines TLS ('N') and passes COPY.
//
// Limits:
//   - The proxy treats SQL-level PREPARE and EXECUTE like other statements, and does not parse their contents.
//   - It does not see a COMMIT inside a procedure.
//   - It takes a function written as BEGIN ATOMIC … END for a COMMIT.
package pgfault
