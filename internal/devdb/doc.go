// Package devdb runs the embedded database: a private database server for one data directory. It starts and stops this server. It also stops a
// database server that an earlier run left behind. A Carve server without --database-url uses an embedded database.
//
// # Guarantees
//
//   - The data survives restarts, and kill -9 of the database, of the server that started it, or of both.
//   - One data directory has one server at a time. A second Start returns an [InUseError] and changes nothing.
//   - Two database processes never use one directory.
//   - PostgreSQL listens only on a unix socket, in a directory that only its own user (and root) can enter. It has no port and no password.
//   - PostgreSQL refuses to run as root, so a root server runs it as another user: the cluster's owner, else postgres, else nobody. That user gets
//     access only to the data directory's content, and needs no permission on the directories above it.
//
// # Two locks
//
// The server holds server.lock (flock) for as long as it uses the directory. The database itself holds engine.lock. The database process inherits the
// open file, and so does every process that it forks. So the kernel releases the lock when the last such process has ended, for any reason. A server
// that holds both locks therefore knows that no process from an earlier run is alive, without trusting a process id in a file. Neither file is ever
// deleted.
//
// # When the server dies
//
// The kernel signals the database (parent death signal, Linux), which then shuts down properly, as on Stop. If a database is still running at the
// next start, the server stops it first, with increasingly strong signals. The server never continues to use that database, because it cannot wait
// for a process that is not its child, and because the process may have an older release's settings.
//
// # Data directory
//
//	server.lock    process id and DSN of the server, valid only while the file is locked
//	engine.lock    locked while a database process is alive
//	postgres/      the PostgreSQL cluster
//	postgres.log   PostgreSQL's messages; once it is large, the next start renames it to postgres.log.1
//	run/           the unix socket, unless its path would be too long
//	run.path       in that case, the directory of the socket
//	cockroach/     the CockroachDB store, cockroach.log, cockroach.url
//
// The directory may be moved or copied while no server uses it. CockroachDB cannot run with only a unix socket, so it listens on a loopback port that
// the kernel chooses, without authentication. Use it only on single-user machines.
package devdb
