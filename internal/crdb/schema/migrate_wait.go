package schema

import (
	"sync"
	"time"
)

// reportAfter is the time after which migrate reports that it waits. It is long enough for a busy database, which can take a second to grant the
// lease even without another migration.
const reportAfter = 5 * time.Second

// reportWait runs a function that may wait. If the function takes longer than reportAfter, reportWait reports what it waits for.
func (o MigrateOptions) reportWait(what string, run func() error) error {
	over := make(chan struct{})
	var saying sync.WaitGroup
	saying.Go(func() {
		late := time.NewTimer(reportAfter)
		defer late.Stop()
		select {
		case <-over:
		case <-late.C:
			o.report("waiting for " + what)
		}
	})
	err := run()
	close(over)
	saying.Wait()
	return err
}
