// Package pgscript is a loopback server that imitates CockroachDB's side of the PostgreSQL wire protocol. A script defines its responses. The server
// holds no data. Tests use it to check a client's statements and their order, and the client's reaction to responses that a real database gives once
// in a thousand times.
//
//	server, err := pgscript.Start(ctx, pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply {
//		if s.SQL == "RELEASE SAVEPOINT cockroach_restart" && s.Nth == 1 {
//			return pgscript.Reply{Code: "40001"}
//		}
//		return pgscript.Reply{}
//	}})
//
// The script does not need to model transactions. The server has the states of CockroachDB's state machine (pkg/sql/conn_fsm.go and
// conn_executor_exec.go in its repository), and sends their byte in each ReadyForQuery:
//
//	state      byte        statement                               next       response
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
// Limits:
//   - A simple query has one statement.
//   - COPY is not supported.
//   - Savepoints with other names succeed without an effect.
//   - The states follow CockroachDB's source. No test here compares them with a running CockroachDB.
package pgscript
