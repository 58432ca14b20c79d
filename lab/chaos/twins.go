package chaos

import (
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/lab/consistency"
)

// Twin is a server that lacks one protection, and the mix that has to show it: the same mix holds when the protection is there.
type Twin struct {
	Name  string
	Lacks string
	Mix   Mix
	Seeds int // within which it has to be caught
}

// Twins are the protections that package twins can take away.
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

// unknowns is a mix in which many COMMITs are not answered.
func unknowns() Mix {
	m := Ordinary()
	m.Weather = Weather{Commits: CommitFaults{CutBefore: 0.1, CutAfter: 0.15, Ambiguous: 0.1}}
	m.Operations = 50
	return m
}

// crowd is many clients on one small pool, on servers that do not know of each other.
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

// neighbours is a crowd that fills pools, and then empties them all together. Two who release at once free the halves of one block: under their locks the
// second one sees what the first has freed, and makes one block of both. What stays apart at the last ebb nobody mends, so the audit finds it.
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

// refusedCommits is a crowd whose transactions are often run again.
func refusedCommits() Mix {
	m := crowd()
	m.Healthy = true             // a plan that is stale is refused again and again, by what its statements hit, until the request gives up:
	m.Timeout = 20 * time.Second // after 30 attempts, and not before
	m.Weather.Commits, m.Weather.Statements = CommitFaults{Serialization: 0.3}, StatementFaults{Serialization: 0.02}
	return m
}

// lostLocks is a crowd that only claims, while no lock holds. What was free and is claimed twice then has to be found out
// by what the statements hit. (Releases need their locks: buddies that come free at once find each other under them.)
func lostLocks() Mix {
	m := crowd()
	m.Weights = map[Kind]int{Claim: 30, ClaimBlock: 20, Put: 20, Generated: 20}
	m.Weather.LostLocks = true
	m.Operations = 12
	return m
}

// restoredAlone is pools of three regions, one of which is put back to an older state while the others go on. Child pools are left out: they are known
// everywhere, and one that the region has forgotten is for its owner to delete.
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

// failsOver is a mix in which the standby takes over in one way.
func failsOver(way Disaster) Mix {
	m := FailedOver()
	m.Weather.Failover = []Disaster{way}
	return m
}

// offClock is a quiet mix in which nothing but one server's clock is wrong.
func offClock() Mix {
	m := Ordinary()
	m.Operations, m.Weather = 40, Weather{Clocks: true}
	return m
}

// remade is a quiet mix: what it is about comes before the first operation (remake).
func remade() Mix {
	m := Ordinary()
	m.Operations, m.Weather = 4, Weather{}
	return m
}

// inherits is a quiet mix in which pools, projects, classes and scopes come back under their names.
func inherits() Mix {
	m := Ordinary()
	m.Operations, m.Heirs, m.Weather = 60, 6, Weather{}
	return m
}

// hidden is a crowd that only claims by length, and whose first reads of what is free sometimes find nothing.
func hidden() Mix {
	m := crowd()
	m.Weights = map[Kind]int{Claim: 30, Put: 20}
	m.Weather.Hidden = 0.2
	m.Operations = 6
	return m
}
