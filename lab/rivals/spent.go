package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
)

// spent is the use of resources since the start of the processes.
type spent struct {
	wal int64
	cpu time.Duration // of this process
	db  time.Duration // of the database's processes
}

// spent measures the resources that are available. CockroachDB has no log position to read, and an external database has no local processes.
func (d *database) spent(ctx context.Context) (s spent, err error) {
	if s.cpu, err = procstat.Self(); err != nil || d.Cockroach {
		return s, err
	}
	if err := d.Admin.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::BIGINT").Scan(&s.wal); err != nil {
		return s, err
	}
	if !d.Private() {
		return s, nil
	}
	var backend int
	if err := d.Admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return s, err
	}
	all, err := procstat.ReadTimes()
	if err != nil {
		return s, err
	}
	postmaster, there := all.Parent(backend)
	if !there {
		return s, fmt.Errorf("there is no process %d, which the database says it has", backend)
	}
	s.db = all.Tree(postmaster)
	return s, nil
}

// charge divides the resources used since before by the number of completed operations. The resources of failed operations are included.
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
