// Package pgfault is a proxy on loopback between a PostgreSQL client and its server that makes things go wrong: at a
// chosen statement, in a chosen way, and so that the test knows what really happened. It speaks the wire protocol and
// sees statements, so it can tell COMMIT from the rest, which a TCP proxy cannot.
//
//	proxy, err := pgfault.Start(ctx, dsn, pgfault.Once(pgfault.CommittedAnswerLost()))
//	pool, err := pgxpool.New(ctx, proxy.DSN())
//
// A fault gives two answers: does the statement take effect, and what is the client told?
//
//	fault                          at         takes effect           the client is told      it may conclude
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
//	NoRows                         Statement  no, undone             no rows                 nothing: it must look again
//	Latency(d)                     all        yes                    the truth, late         -
//	Distances.Latency()            Statement  yes                    the truth, late         -
//	SlowCommit(d)                  Commit     yes, late              the truth, if there     a deadline at Commit: unknown
//	Hold(gate)                     any        when the gate opens    the truth, if there     a deadline at Commit: unknown
//	Partition                      any        after Heal             the truth, if there     a deadline at Commit: unknown
//	PartitionAfter                 any        yes                    after Heal              a deadline at Commit: unknown
//	RewriteSQL(f), StripLocks      all        as rewritten           the truth               -
//
// Which SQLSTATE where: 53300 is ConnectRefused or SQLState; 55P03, 57014 and XXUUU are SQLState on statements and, since
// nobody may conclude anything from the latter two at COMMIT, CommittedThenError there. OnlyTable and Probability choose.
// Proxy.Sever cuts what is connected, Proxy.Partition and Heal the way to the server, whatever is on it.
//
// "Any" is every statement that runs, COMMIT included; "all" adds connecting and preparing. Which statement it happens
// to is said by wrapping: On, OnlySQL, OnlyTable, When, Nth, First, Once, Probability. Faults made from Fault and Action
// work like these.
//
// What can be relied on:
//
//   - "Takes effect" is done before the client is told, "rolled back" likewise: when the client sees the error, the
//     database shows the outcome. Where a client gives up by itself, or is cut off inside a transaction that has run,
//     AwaitEnd says when the server has let go.
//   - Tests need no sleeping: AwaitInjected, AwaitCancel, AwaitEnd, AwaitIdle and Gate.Await say when something is so.
//   - The server itself is taken where the client believes it to be: a failed statement really has aborted its
//     transaction, a failed COMMIT really has ended it. Nothing is simulated that the server could do.
//   - The simple and the extended protocol, prepared statements by name and unnamed, pipelines and COMMIT inside them are
//     treated alike. TLS is declined ('N'), COPY passes.
//
// Limits: SQL-level PREPARE and EXECUTE are statements like others, the proxy does not look into them; a COMMIT inside a
// procedure is not seen; a function written as BEGIN ATOMIC … END reads as a COMMIT.
package pgfault
