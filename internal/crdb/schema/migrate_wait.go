package schema

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/pressly/goose/v3/lock"
)

// patience is the time after which migrate reports that it waits. It is long enough for a busy database, which can take a second to grant the lease
// even without another migration.
const patience = 5 * time.Second

// waiting runs a function that may wait. If it takes longer than patience, waiting reports the wait.
func (o MigrateOptions) waiting(what string, run func() error) error {
	over := make(chan struct{})
	var saying sync.WaitGroup
	saying.Go(func() {
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-over:
		case <-late.C:
			o.say("waiting for " + what)
		}
	})
	err := run()
	close(over)
	saying.Wait()
	return err
}

// telling is a lease that reports a long wait.
type telling struct {
	lock.Locker
	o MigrateOptions
}

// Lock implements lock.Locker.
func (l telling) Lock(ctx context.Context, db *sql.DB) error {
	return l.o.waiting("the lease of another migration that runs now; if it was killed, its lease ends within 30 s", func() error {
		return l.Locker.Lock(ctx, db)
	})
}
