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

// Mix is what a run is made of. The zero value of a field leaves that out.
type Mix struct {
	Name       string
	Regions    []string // of the servers, one each; the first is the home of the pools
	Served     bool     // the pools serve all regions, which borrow from each other
	Pools      []Pool
	Clients    int
	Operations int // of each client
	Weights    map[Kind]int
	Tides      int  // the run is cut into so many parts: in the first, third, … nothing is released, in the others nothing else is done; 0: all at once
	Healthy    bool // the weather cuts nothing off, so that plans are not out of date and nobody gives up (stale, starved)
	Weather    Weather
	Timeout    time.Duration // the servers' --request-timeout
	Attempts   int           // of transactions and reads, for each request on the average, at most
	Repeats    int           // likewise, of those that were tried before and did not succeed
	Settle     bool          // check usability, at the cost of emptying the pools
	Agents     int           // of a herd, whose machines use claims (package herd)
	Heirs      int           // agents that make again what they have deleted (package heirs)
}

// Pool is a pool of a run, with its strategy.
type Pool struct {
	consistency.Pool

	Strategy   string
	ReuseAfter time.Duration // how long what was released cools down; a pool with this has no history to be judged, but checks of its own (cooling.go)
}

// judged reports whether the pool has a history that is judged to be linearizable.
func (p Pool) judged() bool { return p.ReuseAfter == 0 }

// Plan is one run: everything that a seed decides.
type Plan struct {
	Mix

	Seed   uint64
	Ops    [][]Op // by client
	Events []Event
	Off    Off
}

// random is the stream of random numbers of a seed for one purpose.
func random(seed uint64, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose)) //nolint:gosec // to be repeated, not to be secret
}

// The purposes; those of clients follow.
const (
	forWeather = iota
	forClients
	forOnce = 1 << 32
)

// NewPlan makes the plan of a seed.
func NewPlan(m Mix, seed uint64) *Plan {
	p := &Plan{Mix: m, Seed: seed}
	var made []target
	streams := make([]*rand.Rand, m.Clients)
	for c := range streams {
		streams[c] = random(seed, forClients+uint64(c))
		p.Ops = append(p.Ops, nil)
	}
	for i := range m.Operations { // in turns, so that clients release what others have claimed
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
	p.happens(r, m.Weather.Still, patience+time.Duration(1500+r.IntN(2500))*time.Millisecond) // others would wait for longer than they may
	if m.Weather.Clocks {
		p.clocks(r)
	}
	return p
}

// happens chooses when something happens once in a run, to whom, and which of several ways: each in its turn, whether every seed is of this mix or one in four.
func (p *Plan) happens(r *rand.Rand, ways []Disaster, long time.Duration) {
	if len(ways) == 0 {
		return
	}
	all := p.Clients * p.Operations
	p.Events = append(p.Events, Event{
		At: all/10 + r.IntN(max(1, all/3)), Disaster: ways[(p.Seed^p.Seed>>2)%uint64(len(ways))], Region: r.IntN(len(p.Regions)), For: long,
	})
}

// tide is what a mix with tides does at a time.
type tide int

const (
	slack tide = iota // there are none
	flood             // pools are filled
	ebb               // and emptied
)

// tide is that of the operations with a number.
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

// Mixes are the mixes of the suite; seeds take them in turn.
func Mixes() []Mix {
	mixes := []Mix{herded(Ordinary()), Served(), Paused(), FailedOver()}
	for i := range mixes {
		mixes[i].Heirs = 5
	}
	return mixes
}

// herded is a mix with a herd.
func herded(m Mix) Mix {
	m.Agents = 4
	return m
}

// onSomebodyElses are the mixes that can be run on a database server of somebody else, in one region: it is neither restarted nor replaced.
func onSomebodyElses(mixes []Mix) (out []Mix) {
	for _, m := range mixes {
		if len(distinct(m.Regions)) == 1 && len(m.Weather.Failover) == 0 {
			m.Weather.Restarts = 0
			out = append(out, m)
		}
	}
	return out
}

// Ordinary is pools of one region, with all kinds of operations and all faults.
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

// Served is pools of three regions, which lend each other what they need, under the same faults and with the ways between the regions long at
// times. The pools are small, so that blocks go back and forth all the time.
func Served() Mix {
	m := Ordinary()
	m.Name, m.Regions, m.Served = "served", []string{"aa-1", "bb-1", "cc-1"}, true
	m.Pools = []Pool{
		pool("four", "10.0.0.0/27", 32, "BestFit"), pool("first", "10.0.1.0/27", 32, "FirstFit"),
		pool("random", "10.0.2.0/26", 32, "Random"), pool("six", "2001:db8::/59", 64, "Sparse"), m.Pools[4], m.Pools[5],
	}
	m.Operations, m.Weather.Aparts = 76, 2
	m.Attempts = 12 // a claim from a full pool looks for room in all regions, and a block may go by way of the home
	m.Weights = maps.Clone(m.Weights)
	m.Weights[Twice] = 6
	return m
}

// Paused is a crowd on two pools, in which one server stands still for longer than the others may have to wait for it. The way to the database is long, so that
// they have much to do meanwhile.
func Paused() Mix {
	m := Ordinary()
	m.Name, m.Operations, m.Timeout = "paused", 60, 10*time.Second
	m.Pools = []Pool{pool("four", "10.0.0.0/26", 32, "BestFit"), pool("six", "2001:db8::/58", 64, "FirstFit")}
	m.Weather = Weather{Commits: CommitFaults{CutBefore: 0.01, CutAfter: 0.02}, Latency: 15 * time.Millisecond, Still: []Disaster{Pause, CutOff}}
	return m
}

// FailedOver is pools that are never full, in a database with a synchronous standby that takes the primary's place. What was refused before for what is lost then
// could have no order with what comes after, so that nobody asks for a very block, either.
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

// block is a block of a length in the pool, at random.
func (p Pool) block(r *rand.Rand, bits int) netip.Prefix {
	size := 1 << (bits - p.Block.Bits())
	return p.At(r.IntN(size)<<(p.Unit-bits), bits)
}

// reusedAfter is the pool with a cool-down.
func (p Pool) reusedAfter(d time.Duration) Pool {
	p.ReuseAfter = d
	return p
}

// pick chooses the pool of an operation: of three in four one that is judged, where there are others.
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

// unit is the length of the smallest blocks of a pool.
func (m Mix) unit(name string) int {
	for _, p := range m.Pools {
		if p.Name == name {
			return p.Unit
		}
	}
	return 0
}

// poolOf is the pool that a block is of.
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
