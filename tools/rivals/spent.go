package main

import (
	"context"
	"syscall"
	"time"
)

// spent is what was used since the start.
type spent struct {
	wal int64
	cpu time.Duration // of this process
	db  time.Duration // of the database's processes
}

func (d *database) spent(ctx context.Context) (s spent, err error) {
	if err := d.admin.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::BIGINT").Scan(&s.wal); err != nil {
		return s, err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return s, err
	}
	s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	var backend int
	if err := d.admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return s, err
	}
	s.db, err = familyTime(backend)
	return s, err
}

// charge divides what was used since before by what was done meanwhile, failures included in the cost.
func (r *result) charge(ctx context.Context, db *database, before spent) error {
	now, err := db.spent(ctx)
	if err != nil {
		return err
	}
	n := float64(max(r.done, 1))
	r.WAL = float64(now.wal-before.wal) / n
	r.CPU = float64((now.cpu - before.cpu).Microseconds()) / n
	r.Database = float64((now.db - before.db).Microseconds()) / n
	return nil
}
