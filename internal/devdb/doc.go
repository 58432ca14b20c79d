// Package devdb is the embedded database: it starts a private database
// server in a data directory, finds it again on the next start, and stops it.
// A Carve server that is given no --database-url lives on one.
//
// # What is promised
//
//   - The data survives restarts, and kill -9 of the database, of the server
//     that started it, or of both.
//   - One data directory has one server at a time: a second Start returns an
//     [InUseError] and changes nothing.
//   - Never two database processes on one directory.
//   - PostgreSQL listens on a unix socket alone, inside a directory only its
//     own user (and root) can enter. There is no port and no password.
//   - PostgreSQL refuses to run as root, so a root server runs it as another user
//     (the owner of the cluster, else postgres, else nobody), who gets only what lies
//     in the data directory and needs no permission on the directories above it.
//
// # Two locks
//
// server.lock is held (flock) by the server for as long as it uses the
// directory. engine.lock is held by the database itself: its file is inherited by
// the database process and by every process that one forks, so the kernel releases
// it when the last of them is gone, however they died. Holding both therefore proves
// that nothing of an earlier run is alive, without trusting a process id
// written in a file. Neither file is ever deleted.
//
// # When the server dies
//
// The kernel tells the database (parent death signal, Linux), which then shuts
// down properly, as it would on Stop. A database that is nevertheless still there at the next
// start is stopped first, gently and then less so. It is never adopted: a
// process that is not our child cannot be waited for, and may run with
// the settings of an older release.
//
// # Data directory
//
//	server.lock    who serves from here: a process id and a DSN, true only while it is locked
//	engine.lock    held while a database process lives
//	postgres/      the PostgreSQL cluster
//	postgres.log   what PostgreSQL said; the run before it in postgres.log.1 once it is large
//	run/           the unix socket, unless its path would be too long
//	run.path       then: where the socket is instead
//	cockroach/     the CockroachDB store, cockroach.log, cockroach.url
//
// The directory may be moved or copied while no server runs on it. CockroachDB,
// which has no socket-only mode for its own needs, listens on a loopback port
// chosen by the kernel, without authentication: it is for single-user machines.
package devdb
