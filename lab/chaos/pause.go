package chaos

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// paused is a period in which a server was stopped or cut off from the database. Other servers cannot distinguish the two.
type paused struct {
	region   int
	from, to time.Time
}

// asked is one request that needs a pool, as its client saw it.
type asked struct {
	op       string
	pool     string
	server   int
	from, to time.Time
	served   bool // the response proves that the server got the pool's locks
}

// pause stops a server (SIGSTOP) in the middle of a transaction that holds its locks, and resumes it after a while (SIGCONT). A hypervisor does the
// same when it moves a virtual machine. If no such transaction runs in time, pause stops the server anyway.
func (run *run) pause(ctx context.Context, r *region, d time.Duration) error {
	gate := pgfault.NewGate()
	r.storm(pgfault.First(1, pgfault.Named("held in a transaction", underLocks(pgfault.Hold(gate)))))
	soon, cancel := context.WithTimeout(ctx, reached)
	_, missed := gate.Await(soon)
	cancel()
	r.storm()
	defer gate.Open()
	r.mu.Lock()
	process := r.process
	r.mu.Unlock()
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	gate.Open() // the database executes the statement that it has received, and waits for the next one
	run.standStill(ctx, r, d, missed == nil)
	return process.Signal(syscall.SIGCONT)
}

// cutOff cuts the connection between a server and the database in the middle of a transaction that holds its locks. It restores the connection after
// a while. As in a network fault, both sides believe that they are still connected.
func (run *run) cutOff(ctx context.Context, r *region, d time.Duration) {
	const name = "cut off in a transaction"
	r.storm(pgfault.First(1, pgfault.Named(name, underLocks(pgfault.PartitionAfter()))))
	soon, cancel := context.WithTimeout(ctx, reached)
	missed := r.ways[0].AwaitInjected(soon, name, 1)
	cancel()
	r.storm()
	r.ways[0].Partition()
	run.standStill(ctx, r, d, missed == nil)
	r.ways[0].Heal()
}

// reached limits the wait for a transaction in which to stop a server.
const reached = 2 * time.Second

// underLocks limits a fault to a transaction that holds the locks of a pool and has not yet written.
func underLocks(f pgfault.Fault) pgfault.Fault {
	return pgfault.When(func(e pgfault.Event) bool { return e.InTx && !e.Writes && slices.Contains(e.Tables, "free_blocks") }, f)
}

// standStill waits while a server is stopped. It records the period for heldUp.
func (run *run) standStill(ctx context.Context, r *region, d time.Duration, locked bool) {
	from := time.Now()
	wait(ctx, d)
	run.ledger.mu.Lock()
	run.ledger.pauses = append(run.ledger.pauses, paused{r.index, from, time.Now()})
	run.ledger.mu.Unlock()
	if locked {
		run.ledger.count("stopped in a transaction")
	}
}

// sent records a request that needs a pool's locks, for heldUp.
func (run *run) sent(op *Op, server int, from time.Time, a answer) {
	pool := op.Pool
	if op.Kind == Release && op.Target != nil {
		pool = op.Target.Pool
	}
	if op.Kind == Get || op.Kind == Again || pool == "" {
		return
	}
	served := a.err == nil && (a.status < 500 || a.code == ipam.CodeOutcomeUnknown)
	run.ledger.mu.Lock()
	defer run.ledger.mu.Unlock()
	run.ledger.asked = append(run.ledger.asked, asked{op.ID(), pool, server, from, time.Now(), served})
}

// patience is the longest time for which a stopped server may block a pool for other servers.
const patience = 6 * time.Second

// heldUp checks that a stopped server did not block a pool for too long. It is a violation if a request waits longer than patience and no other
// request for the same pool succeeds in that time.
func (run *run) heldUp() {
	run.ledger.mu.Lock()
	pauses, all := run.ledger.pauses, run.ledger.asked
	run.ledger.mu.Unlock()
	for _, p := range pauses {
		for _, a := range all {
			from, to := later(a.from, p.from), earlier(a.to, p.to)
			if a.server == p.region || to.Sub(from) <= patience {
				continue
			}
			meanwhile := slices.ContainsFunc(all, func(b asked) bool {
				return b.served && b.pool == a.pool && b.to.After(from) && b.to.Before(to)
			})
			if !meanwhile {
				run.ledger.violated("heldup", a.op, "waited for pool %s at server %d for %v while server %d stood still, and nobody was served", a.pool, a.server, to.Sub(from), p.region)
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
