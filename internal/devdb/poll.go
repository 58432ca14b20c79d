//go:build unix

package devdb

import (
	"context"
	"time"
)

// Pauses between two tries of poll: short at first because most waits are, longer later
// because each try may cost the database a process and a line in its log.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// poll calls try until it succeeds, fails or ctx ends, in which case the error is that of ctx.
func poll(ctx context.Context, try func() (bool, error)) error {
	pause := firstPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		pause = min(pause*3/2, longestPause)
		timer.Reset(pause)
	}
}
