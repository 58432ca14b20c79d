package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/lab/consistency"
)

// Mix configures a run. The zero value of a field disables its feature.
type Mix struct {
	Name       string
	Regions    []string // one for each server; the first is the home region of the pools
	Served     bool     // each region serves the pools, and the regions borrow blocks from each other
	Pools      []Pool
	Clients    int
	Operations int // of each client
	Weights    map[Kind]int
	Tides      int  // number of parts of the run: odd parts release nothing, even parts only release; 0: no parts
	Healthy    bool // the weather cuts no connection, so plans must not be out of date (stale) and requests must not give up (starved)
	Weather    Weather
	Timeout    time.Duration // the servers' --request-timeout
	Attempts   int           // largest average number of transactions and reads per request
	Repeats    int           // largest average number of retries per request
	Settle     bool          // claim each pool as a whole at the end, which first empties the pools
	Agents     int           // agents of a herd with machines that use claims (package herd)
	Heirs      int           // agents that delete objects and make new ones by the same names (package heirs)
}

// Pool is a pool of a run, with its allocation strategy.
type Pool struct {
	consistency.Pool

	Strategy   string
	ReuseAfter time.Duration // cool-down of released blocks; a pool with a cool-down is not checked for linearizability, but by cooling.go
}

// judged reports whether the pool's history is checked for linearizability.
func (p Pool) judged() bool { return p.ReuseAfter == 0 }

// Plan contains all decisions of one run. They follow from the seed.
type Plan struct {
	Mix

	Seed   uint64
	Ops    [][]Op // by client
	Events []Event
	Off    Off
}

// random returns a source of random numbers. It depends on the seed and the purpose.
func random(seed uint64, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose)) //nolint:gosec // to be repeated, not to be secret
}

// Purposes of random numbers. Client n uses purpose forClients+n.
const (
	forWeather = iota
	forClients
	forOnce = 1 << 32
)

// NewPlan makes the plan that follows from a seed.
func NewPlan(m Mix, seed uint64) *Plan {
	p := &Plan{Mix: m, Seed: seed}
	var made []target
	streams := make([]*rand.Rand, m.Clients)
	for c := range streams {
		streams[c] = random(seed, forClients+uint64(c))
		p.Ops = append(p.Ops, nil)
	}
	for i := range m.Operations { // in rounds, so that clients can release claims of other clients
		for c := range m.Clients {
			if p.tide(i) == ebb && len(made) == 0 {
				continue
			}
			op := p.draw(streams[c], c, i, &made)
			p.Ops[c] = append(p.Ops[c], op)
		}
	}
	p.Events = m.Weather.events(random(seed, forWeather), len(m.Regions), m.Clients*m.Operations)
	r := random(seed, forOnce)
	p.happens(r, m.Weather.Failover, 0)
	p.happens(r, m.Weather.Still, patience+time.Duration(1500+r.IntN(2500))*time.Millisecond) // longer than a stopped server may block other servers
	if m.Weather.Clocks {
		p.clocks(r)
	}
	return p
}

// happens plans one event at a random time and region. The seed selects the kind of the event. The formula works for every seed and for every fourth
// seed, so the kinds take turns in both cases.
func (p *Plan) happens(r *rand.Rand, ways []Disaster, long time.Duration) {
	if len(ways) == 0 {
		return
	}
	all := p.Clients * p.Operations
	p.Events = append(p.Events, Event{
		At: all/10 + r.IntN(max(1, all/3)), Disaster: ways[(p.Seed^p.Seed>>2)%uint64(len(ways))], Region: r.IntN(len(p.Regions)), For: long,
	})
}

// tide is the phase of a mix with tides.
type tide int

const (
	slack tide = iota // no phases
	flood             // fill the pools
	ebb               // empty them
)

// tide returns an operation's phase by its number.
func (m Mix) tide(number int) tide {
	switch {
	case m.Tides == 0:
		return slack
	case number*m.Tides/m.Operations%2 == 0:
		return flood
	default:
		return ebb
	}
}

// Mixes returns the suite's mixes. The seeds take the mixes in turn.
func Mixes() []Mix {
	mixes := []Mix{herded(Ordinary()), Served(), Paused(), FailedOver()}
	for i := range mixes {
		mixes[i].Heirs = 5
	}
	return mixes
}

// herded adds a herd to a mix.
func herded(m Mix) Mix {
	m.Agents = 4
	return m
}

// onSomebodyElses returns the mixes that can run on an external database server. These have one region and no failover. The harness cannot restart or
// replace that server.
func onSomebodyElses(mixes []Mix) (out []Mix) {
	for _, m := range mixes {
		if len(distinct(m.Regions)) == 1 && len(m.Weather.Failover) == 0 {
			m.Weather.Restarts = 0
			out = append(out, m)
		}
	}
	return out
}

// Ordinary returns a mix with pools in one region, all kinds of operations and all faults.
func Ordinary() Mix {
	return Mix{
		Name: "ordinary", Regions: []string{"local", "local", "local"},
		Pools: []Pool{
			pool("four", "10.0.0.0/27", 32, "BestFit"), pool("first", "10.0.1.0/27", 32, "FirstFit"),
			pool("random", "10.0.2.0/27", 32, "Random"), pool("six", "2001:db8::/59", 64, "Sparse"),
			pool("cool", "10.1.0.0/22", 32, "FirstFit").reusedAfter(longer), pool("brief", "10.1.4.0/22", 32, "BestFit").reusedAfter(shorter),
		},
		Clients: 6, Operations: 88, Timeout: 3 * time.Second, Attempts: 6, Repeats: 2, Settle: true, Weather: Storm(),
		Weights: map[Kind]int{
			Claim: 26, ClaimBlock: 8, Put: 12, Generated: 14, Batch: 5, Child: 4, ChildClaim: 3, Release: 30, Again: 4, Get: 2,
		},
	}
}

// Served returns a mix with pools that three regions serve. The regions lend blocks to each other. The mix has the same faults as Ordinary, and at
// times slow connections between the regions. The pools are small, so that blocks move all the time.
func Served() Mix {
	m := Ordinary()
	m.Name, m.Regions, m.Served = "served", []string{"aa-1", "bb-1", "cc-1"}, true
	m.Pools = []Pool{
		pool("four", "10.0.0.0/27", 32, "BestFit"), pool("first", "10.0.1.0/27", 32, "FirstFit"),
		pool("random", "10.0.2.0/26", 32, "Random"), pool("six", "2001:db8::/59", 64, "Sparse"), m.Pools[4], m.Pools[5],
	}
	m.Operations, m.Weather.Aparts = 76, 2
	m.Attempts = 12 // a claim from a full pool searches all regions, and a block may move through the home region
	m.Weights = maps.Clone(m.Weights)
	m.Weights[Twice] = 6
	return m
}

// Paused returns a mix with many clients on two pools. One server stops for longer than it may block the others. The connection to the database is
// slow, so that the other servers always have requests under way during the stop.
func Paused() Mix {
	m := Ordinary()
	m.Name, m.Operations, m.Timeout = "paused", 60, 10*time.Second
	m.Pools = []Pool{pool("four", "10.0.0.0/26", 32, "BestFit"), pool("six", "2001:db8::/58", 64, "FirstFit")}
	m.Weather = Weather{Commits: CommitFaults{CutBefore: 0.01, CutAfter: 0.02}, Latency: 15 * time.Millisecond, Still: []Disaster{Pause, CutOff}}
	return m
}

// FailedOver returns a mix in which the run promotes the database's synchronous standby. Its pools are never full, and no client asks for an exact
// CIDR, because both could cause a refusal. The failover may lose the allocation that caused a refusal. Then no order of the operations could explain
// it.
func FailedOver() Mix {
	m := Ordinary()
	m.Name, m.Operations, m.Timeout = "failover", 44, 2*time.Second
	m.Pools = []Pool{pool("four", "10.0.0.0/24", 32, "BestFit"), pool("six", "2001:db8::/56", 64, "FirstFit")}
	m.Weather = Weather{Commits: CommitFaults{Serialization: 0.03, CutBefore: 0.02, CutAfter: 0.03}, Failover: []Disaster{FailOver, CrashAndFailOver}}
	m.Weights = map[Kind]int{Claim: 26, Put: 16, Generated: 10, Batch: 5, Release: 24, Again: 6, Get: 4}
	return m
}

func pool(name, block string, unit int, strategy string) Pool {
	return Pool{Pool: consistency.Pool{Name: name, Block: netip.MustParsePrefix(block), Unit: unit}, Strategy: strategy}
}

// block returns a random block of the given length in the pool.
func (p Pool) block(r *rand.Rand, bits int) netip.Prefix {
	size := 1 << (bits - p.Block.Bits())
	return p.At(r.IntN(size)<<(p.Unit-bits), bits)
}

// reusedAfter returns the pool with a cool-down.
func (p Pool) reusedAfter(d time.Duration) Pool {
	p.ReuseAfter = d
	return p
}

// pick chooses an operation's pool. If the mix has pools with a cool-down, three in four operations go to a pool without one.
func (p *Plan) pick(r *rand.Rand) Pool {
	at := slices.IndexFunc(p.Pools, func(p Pool) bool { return !p.judged() })
	if at < 0 {
		return p.Pools[r.IntN(len(p.Pools))]
	}
	if r.IntN(4) > 0 {
		return p.Pools[r.IntN(at)]
	}
	return p.Pools[at+r.IntN(len(p.Pools)-at)]
}

// unit returns the prefix length of a pool's smallest blocks.
func (m Mix) unit(name string) int {
	for _, p := range m.Pools {
		if p.Name == name {
			return p.Unit
		}
	}
	return 0
}

// poolOf returns the pool that contains a block.
func (m Mix) poolOf(block netip.Prefix) Pool {
	for _, p := range m.Pools {
		if p.Block.Overlaps(block) {
			return p
		}
	}
	return Pool{}
}

func (p Pool) String() string {
	return fmt.Sprintf("%s %v in /%d, %s", p.Name, p.Block, p.Unit, p.Strategy)
}
