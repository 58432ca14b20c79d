package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// Weather configures the faults of a mix. A chance applies to each statement of its kind.
type Weather struct {
	Commits    CommitFaults
	Statements StatementFaults

	Latency   time.Duration // added to every round trip to the database, so that transactions overlap
	Clocks    bool          // one server's clock is wrong
	LostLocks bool          // PostgreSQL's advisory locks exclude no transaction
	Hidden    float64       // chance that a transaction's read of free blocks finds none

	Still    []Disaster // ways to stop a server once; the seeds take them in turn
	Failover []Disaster // ways to promote a synchronous standby; the seeds take them in turn
	Restore  bool       // one region's rows go back to an older state, and an operator reconciles them

	Kills, Partitions, Restarts, Severs, Slows, Aparts int // number of times in a run
}

// CommitFaults are the chances of faults in a COMMIT. The numbers are SQLSTATEs.
type CommitFaults struct {
	Serialization float64 // 40001, rolled back
	CutBefore     float64 // rolled back, connection cut
	CutAfter      float64 // committed, connection cut
	Ambiguous     float64 // 40003, committed or rolled back
	Drain         float64 // committed, 57P01
	Odd           float64 // committed, XXUUU or 57014
}

// StatementFaults are the chances of faults in a statement other than COMMIT. The numbers are SQLSTATEs.
type StatementFaults struct {
	Serialization float64 // 40001
	Cut           float64
	Drain         float64 // 57P01
	Unavailable   float64 // 58C00, for the tables of blocks
	Full          float64 // 53300
	Locked        float64 // 55P03
	Deadlock      float64 // 40P01
	After         float64 // executed, connection cut
}

// Storm returns weather with nearly all faults.
func Storm() Weather {
	return Weather{
		Commits:    CommitFaults{0.05, 0.05, 0.05, 0.04, 0.02, 0.01},
		Statements: StatementFaults{0.004, 0.004, 0.002, 0.002, 0.001, 0.002, 0.002, 0.002},
		Kills:      2, Partitions: 2, Restarts: 1, Severs: 2, Slows: 1, Clocks: true,
	}
}

// rules returns the rules by which a region's proxy injects faults into statements. The distances come first, because they only delay statements and
// never decide their outcome.
func (w Weather) rules(seed uint64, far *pgfault.Distances) []pgfault.Rule {
	out := []pgfault.Rule{far.Latency()}
	if w.Latency > 0 {
		out = append(out, pgfault.Latency(w.Latency))
	}
	if w.LostLocks {
		out = append(out, pgfault.RewriteSQL(withoutLocks))
	}
	add := func(p float64, name string, f pgfault.Fault) {
		if p > 0 {
			out = append(out, pgfault.Probability(p, seed, pgfault.Named(name, f)))
		}
	}
	c := w.Commits
	add(c.Serialization, "commit 40001", pgfault.CommitSerializationFailure())
	add(c.CutBefore, "cut before commit", pgfault.LostBeforeCommit())
	add(c.CutAfter, "cut after commit", pgfault.CommittedAnswerLost())
	add(c.Ambiguous/2, "40003, committed", pgfault.CommitAmbiguous40003())
	add(c.Ambiguous/2, "40003, rolled back", pgfault.RolledBackAmbiguous40003())
	add(c.Drain, "57P01, committed", pgfault.CommittedThenDrain57P01())
	add(c.Odd/2, "XXUUU, committed", pgfault.CommittedThenError("XXUUU"))
	add(c.Odd/2, "57014, committed", pgfault.CommittedThenError("57014"))
	s := w.Statements
	statement := func(f pgfault.Fault) pgfault.Fault { return pgfault.On(pgfault.Statement, f) }
	add(s.Serialization, "40001", pgfault.StatementSerializationFailure())
	add(s.Cut, "cut", statement(pgfault.ConnectionLost()))
	add(s.Drain, "57P01", statement(pgfault.Drain57P01()))
	add(s.Unavailable, "58C00 of free_blocks", pgfault.OnlyTable("free_blocks", pgfault.RangeUnavailable58C00()))
	add(s.Unavailable, "58C00 of holds", pgfault.OnlyTable("holds", pgfault.RangeUnavailable58C00()))
	add(s.Full, "53300", statement(pgfault.SQLState("53300")))
	add(s.Locked, "55P03", statement(pgfault.SQLState("55P03")))
	add(s.Deadlock, "40P01", statement(pgfault.SQLState("40P01")))
	add(w.Hidden, "nothing free, it seems", hide())
	add(s.After, "cut after", statement(pgfault.AnswerLost()))
	return out
}

// withoutLocks rewrites a statement so that it takes no lock and still succeeds.
func withoutLocks(sql string) string {
	return strings.NewReplacer("pg_advisory_xact_lock(", "abs(", "pg_try_advisory_xact_lock(k)", "true", "pg_try_advisory_xact_lock_shared(k)", "true").Replace(sql)
}

// hide returns no rows when a transaction reads free blocks.
func hide() pgfault.Fault {
	return pgfault.When(func(e pgfault.Event) bool {
		return e.InTx && strings.HasPrefix(e.SQL, "select") && strings.Contains(e.SQL, "from free_blocks")
	}, pgfault.NoRows())
}

// Disaster is the kind of a large fault.
type Disaster int

// The kinds of disasters.
const (
	Kill      Disaster = iota // a server is killed (kill -9) and started again
	Partition                 // a region cannot reach the database for a time; afterwards all delayed messages arrive
	Restart                   // the database stops immediately and starts again
	Sever                     // all connections of a region are cut
	Slow                      // the COMMITs of a region take longer than a request may take, for a time
	Apart                     // messages from a region to other regions are slow for a time; messages within the region stay fast
	Copy
	PutBack          // the copy replaces the region's rows; after a time the operator reconciles the region
	Step             // the clock of a server jumps to this offset
	Pause            // a server stops in the middle of a transaction and resumes after a time
	CutOff           // a server loses the database in the middle of a transaction, for a time
	FailOver         // the standby is unreachable for a time; then the primary dies and the standby is promoted
	CrashAndFailOver // like FailOver, but the primary crashes and starts again before it dies
)

// String returns the disaster's name.
func (d Disaster) String() string {
	return [...]string{"kill -9 of server", "partition of region", "restart of the database, from region", "cut of all connections of region", "slow commits of region", "other regions far from region", "copy of region", "restore of region", "clock put ahead of server", "pause of server", "cut, in a transaction, of region", "failover, after a stall, from region", "failover, after a stall and a crash, from region"}[d]
}

// Event is a disaster. It begins when a certain number of operations are done.
type Event struct {
	At       int
	Disaster Disaster
	Region   int
	For      time.Duration
}

func (e Event) String() string {
	if e.Disaster == Step {
		return fmt.Sprintf("after %d operations: clock of server %d is ahead %v", e.At, e.Region, e.For)
	}
	return fmt.Sprintf("after %d operations: %s %d for %v", e.At, e.Disaster, e.Region, e.For)
}

// events spreads the disasters over the middle of a run with the given number of operations.
func (w Weather) events(r *rand.Rand, regions, operations int) []Event {
	var all []Event
	if w.Restore {
		one, a, b := r.IntN(regions), operations/10+r.IntN(operations/5), operations/2+r.IntN(operations/5)
		all = append(all, Event{At: a, Disaster: Copy, Region: one}, Event{
			At: b, Disaster: PutBack, Region: one, For: time.Duration(300+r.IntN(700)) * time.Millisecond,
		})
	}
	for _, part := range []struct {
		disaster Disaster
		times    int
	}{{Kill, w.Kills}, {Partition, w.Partitions}, {Restart, w.Restarts}, {Sever, w.Severs}, {Slow, w.Slows}, {Apart, w.Aparts}} {
		for range part.times {
			all = append(all, Event{
				At: operations/10 + r.IntN(max(1, operations*7/10)), Disaster: part.disaster, Region: r.IntN(regions),
				For: time.Duration(100+r.IntN(600)) * time.Millisecond,
			})
		}
	}
	return all
}
