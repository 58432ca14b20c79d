package logspike

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// resolveLimit is the time to find the outcome of an INSERT.
const resolveLimit = 30 * time.Second

// resolve finds the outcome of an INSERT after its answer was lost. All rows of the INSERT are written or none, so one log row decides:
//
//   - It has the group's id: the INSERT was committed.
//   - It has another id: the INSERT can never be committed, because its key is taken.
//   - It is missing: the INSERT may still be under way. resolve writes an empty log row with the same key. If this succeeds, the INSERT can never be
//     committed. If the key is taken, resolve reads the row again.
func (e *Engine) resolve(b *planner, cause error) (ending, error) {
	ctx, cancel := context.WithTimeout(e.ctx, resolveLimit)
	defer cancel()
	pool, seq := b.firstLog()
	for attempt := 0; ; attempt++ {
		if err := pause(ctx, attempt); err != nil {
			return unknown, errors.Join(cause, err)
		}
		group, found, err := e.store.logRow(ctx, pool, seq)
		switch {
		case err != nil:
			continue
		case found && group == b.group:
			return committed, nil
		case found:
			return keyTaken, cause
		}
		empty := rows{group: uuid.New()}
		if err := empty.addLog(pool, seq, logBody{}); err != nil {
			return unknown, err
		}
		if end, err := e.store.insert(ctx, &empty); end == committed {
			return keyTaken, fmt.Errorf("the group was replaced by an empty log row: %w", errors.Join(cause, err))
		} else if end == outdated {
			return outdated, cause
		}
	}
}

// firstLog returns the key of a log row of the INSERT.
func (b *planner) firstLog() (pool ID, seq int64) {
	for i, kind := range b.kind {
		if kind == kindLog {
			return b.pool[i].Bytes, b.seq[i]
		}
	}
	panic("every INSERT has a log row")
}
