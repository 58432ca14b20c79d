package chaos

import (
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/lab/consistency"
)

// Twin is a server without one protection. Its mix must show the missing protection. With the protection, the same mix passes.
type Twin struct {
	Name  string
	Lacks string
	Mix   Mix
	Seeds int // at least one of this many seeds must fail a check
}

// Twins lists the protections that package twins can remove.
func Twins() []Twin {
	list := []Twin{
		{"no-key", "the unique idempotency key", unknowns(), 3},
		{"no-read-back", "reading back what an unanswered COMMIT did", unknowns(), 3},
		{"stale-plan", "a fresh transaction for each attempt", refusedCommits(), 6},
		{"no-locks", "locks", neighbours(), 6},
		{"no-must-hit", "the check that a statement has hit what it names", lostLocks(), 6},
		{"no-marks", "the comparison of the marks under which a server remembers", crowd(), 6},
		{"no-second-look", "a second look before a pool is called exhausted", hidden(), 6},
		{"no-epoch", "the comparison of a region's epochs", restoredAlone(), 4},
		{"cancel-commits", "leaving a COMMIT alone that nobody waits for any more", failsOver(FailOver), 4},
		{"no-barrier", "waiting until what is told again is durable", failsOver(CrashAndFailOver), 4},
		{"local-clock", "going by the database's clock", offClock(), 3},
		{"roles-by-name", "the binding of a role to its project", remade(), 2},
		{"no-release-again", "the second look of a release that began with what is remembered", inherits(), 3},
	}
	for i := range list {
		list[i].Mix.Name = list[i].Name
	}
	return list
}

// unknowns returns a mix in which many COMMITs get no response.
func unknowns() Mix {
	m := Ordinary()
	m.Weather = Weather{Commits: CommitFaults{CutBefore: 0.1, CutAfter: 0.15, Ambiguous: 0.1}}
	m.Operations = 50
	return m
}

// crowd returns a mix with many clients on two small pools.
func crowd() Mix {
	m := Ordinary()
	m.Pools = []Pool{
		{Pool: consistency.Pool{Name: "one", Block: m.Pools[0].Block, Unit: 32}, Strategy: "FirstFit"},
		{Pool: consistency.Pool{Name: "two", Block: m.Pools[1].Block, Unit: 32}, Strategy: "BestFit"},
	}
	m.Clients, m.Operations, m.Weather = 9, 40, Weather{Latency: 10 * time.Millisecond}
	m.Weights = map[Kind]int{Claim: 25, ClaimBlock: 20, Put: 15, Release: 60}
	return m
}

// neighbours returns a mix that fills pools and then empties them (Mix.Tides). Two simultaneous releases free the two halves of one block. Under the
// pool's lock, the second release sees the half that the first one freed, and merges both halves into one block. Without the lock, the halves stay
// separate. No release follows the last phase, so the audit finds them.
func neighbours() Mix {
	m := crowd()
	for i, block := range []string{"10.0.0.0/26", "10.0.1.0/26"} {
		m.Pools[i].Block = netip.MustParsePrefix(block)
	}
	m.Weights = map[Kind]int{Claim: 30, Put: 10, Release: 1}
	m.Operations, m.Tides, m.Healthy = 32, 4, true
	m.Weather.Latency = 15 * time.Millisecond
	return m
}

// refusedCommits returns a mix whose COMMITs often fail with a serialization error. The server must then run the transaction again.
func refusedCommits() Mix {
	m := crowd()
	m.Healthy = true             // a stale plan fails its statement checks in each attempt, until the request gives up
	m.Timeout = 20 * time.Second // the request gives up only after 30 attempts
	m.Weather.Commits, m.Weather.Statements = CommitFaults{Serialization: 0.3}, StatementFaults{Serialization: 0.02}
	return m
}

// lostLocks returns a mix of claims without releases, in which locks exclude no transaction. The checks of statements must detect that two claims
// take the same free block. The mix has no releases because those need their locks. Only under a lock do two simultaneous releases merge their
// blocks.
func lostLocks() Mix {
	m := crowd()
	m.Weights = map[Kind]int{Claim: 30, ClaimBlock: 20, Put: 20, Generated: 20}
	m.Weather.LostLocks = true
	m.Operations = 12
	return m
}

// restoredAlone returns a mix with pools of three regions. One region goes back to an older state while the other regions continue. The mix makes no
// child pools. All regions know a child pool, so its owner would have to delete each one that the restored region has lost.
func restoredAlone() Mix {
	m := Served()
	m.Weather = Weather{
		Commits: CommitFaults{Serialization: 0.03, CutAfter: 0.03}, Statements: StatementFaults{Cut: 0.002}, Kills: 1, Partitions: 1, Aparts: 1, Restore: true,
	}
	m.Weights = map[Kind]int{Claim: 26, ClaimBlock: 8, Put: 12, Generated: 10, Twice: 4, Batch: 4, Release: 40, Get: 2}
	m.Operations = 60
	m.Pools = slices.DeleteFunc(m.Pools, func(p Pool) bool { return !p.judged() })
	return m
}

// failsOver returns a mix with one kind of failover.
func failsOver(way Disaster) Mix {
	m := FailedOver()
	m.Weather.Failover = []Disaster{way}
	return m
}

// offClock returns a mix without other faults in which one server's clock is wrong.
func offClock() Mix {
	m := Ordinary()
	m.Operations, m.Weather = 40, Weather{Clocks: true}
	return m
}

// remade returns a mix without faults. Before the first operation, each run deletes a project and makes it again (run.remake).
func remade() Mix {
	m := Ordinary()
	m.Operations, m.Weather = 4, Weather{}
	return m
}

// inherits returns a mix without faults. Agents delete pools, projects, classes and scopes, and make new ones by the same names.
func inherits() Mix {
	m := Ordinary()
	m.Operations, m.Heirs, m.Weather = 60, 6, Weather{}
	return m
}

// hidden returns a mix that only claims by length. Sometimes the first read of free blocks wrongly finds none.
func hidden() Mix {
	m := crowd()
	m.Weights = map[Kind]int{Claim: 30, Put: 20}
	m.Weather.Hidden = 0.2
	m.Operations = 6
	return m
}
