// Package pgscript is a server on loopback that speaks CockroachDB's side of the PostgreSQL wire protocol from a script. It holds no data: it is for
// what a client says, in which order, and what it concludes from an answer that a real database gives once in a thousand times.
//
//	server, err := pgscript.Start(ctx, pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply {
//		if s.SQL == "RELEASE SAVEPOINT cockroach_restart" && s.Nth == 1 {
//			return pgscript.Reply{Code: "40001"}
//		}
//		return pgscript.Reply{}
//	}})
//
// What it knows by itself is the life of a transaction, as CockroachDB's state machine has it (pkg/sql/conn_fsm.go and conn_executor_exec.go in its
// repository), and with it the byte of each ReadyForQuery:
//
//	state      is          statement                               becomes    answer
//	none       I           BEGIN                                   open
//	open       T           any that fails, RELEASE too             failed     the error
//	open       T           COMMIT that fails                       none       the error
//	open       T           SAVEPOINT cockroach_restart             open
//	open       T           RELEASE SAVEPOINT cockroach_restart     committed  the commit itself
//	failed     E           ROLLBACK TO SAVEPOINT cockroach_restart open
//	failed     E           COMMIT                                  none       ROLLBACK, and no error
//	failed     E           any other                               failed     25P02
//	committed  T           COMMIT or ROLLBACK                      none       COMMIT
//	committed  T           any other                               failed     25000
//	any        any         ROLLBACK                                none
//
// Limits: one statement in a simple query; no COPY; savepoints of other names are answered and not remembered. Whether CockroachDB behaves as its source
// says is not proved here.
package pgscript
