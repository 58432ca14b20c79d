//go:build unix

package devdb

import (
	"context"
	"time"
)

// Pauses between poll's attempts. The first pauses are short because most waits are short. Later pauses are longer, because each attempt may cost the
// database a process and a log line.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// poll calls attempt until it reports success or returns an error. It returns ctx's error if ctx ends first.
func poll(ctx context.Context, attempt func() (bool, error)) error {
	pause := firstPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if done, err := attempt(); done || err != nil {
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
