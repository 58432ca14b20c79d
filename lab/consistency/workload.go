package consistency

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
)

// Target is a service, or a server behind HTTP, that clients use. It returns ipam errors. Any other error means that the outcome is unknown.
type Target interface {
	Claim(ctx context.Context, pool, name string, bits int) (netip.Prefix, error)
	ClaimBlock(ctx context.Context, pool, name string, block netip.Prefix) (netip.Prefix, error)
	Release(ctx context.Context, pool, name string) error
}

// Workload runs clients that claim and release at random. The same seed gives the same operations, but concurrent operations may run in another
// order.
type Workload struct {
	Pools      []Pool
	Clients    int
	Operations int // of each client
	Seed       uint64
}

// Run runs all clients and returns the recorded history. The clients take the targets in turn.
func (w Workload) Run(ctx context.Context, targets ...Target) *Recorder {
	r := NewRecorder(w.Pools...)
	made := &names{}
	var wg sync.WaitGroup
	for i := range w.Clients {
		c := &client{
			id: i, target: targets[i%len(targets)], pools: w.Pools, recorder: r, made: made,
			random: rand.New(rand.NewPCG(w.Seed, uint64(i))), //nolint:gosec // no secret, and a count
		}
		wg.Go(func() {
			for n := range w.Operations {
				c.step(ctx, n)
			}
		})
	}
	wg.Wait()
	return r
}

// names lists the claims that exist or may have existed, with their pools. A client also releases the claims of other clients.
type names struct {
	mu   sync.Mutex
	list [][2]string
}

func (n *names) add(pool, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, [2]string{pool, name})
}

// pick returns a random claim from the list. In half of the cases the claim stays in the list, so that a client may release it again.
func (n *names) pick(random *rand.Rand) (pool, name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 {
		return "", "", false
	}
	i := random.IntN(len(n.list))
	one := n.list[i]
	if random.IntN(2) == 0 {
		n.list[i] = n.list[len(n.list)-1]
		n.list = n.list[:len(n.list)-1]
	}
	return one[0], one[1], true
}

type client struct {
	id       int
	target   Target
	pools    []Pool
	recorder *Recorder
	made     *names
	random   *rand.Rand
}

// step makes one operation. Most operations are claims by length, so that pools are often full.
func (c *client) step(ctx context.Context, n int) {
	pool := c.pools[c.random.IntN(len(c.pools))]
	name := fmt.Sprintf("c%d-%d", c.id, n)
	bits := max(pool.Block.Bits(), pool.Unit-c.random.IntN(3))
	var call *Call
	var block netip.Prefix
	var err error
	switch c.random.IntN(10) {
	case 0, 1, 2, 3, 4:
		call = c.recorder.Claim(c.id, pool.Name, name, bits)
		block, err = c.target.Claim(ctx, pool.Name, name, bits)
	case 5, 6:
		want := pool.at(c.random.IntN(pool.units())&^(pool.size(bits)-1), bits)
		call = c.recorder.ClaimBlock(c.id, pool.Name, name, want)
		block, err = c.target.ClaimBlock(ctx, pool.Name, name, want)
	default:
		if in, other, ok := c.made.pick(c.random); ok {
			call := c.recorder.Release(c.id, in, other)
			call.Answer(netip.Prefix{}, c.target.Release(ctx, in, other))
		}
		return
	}
	call.Answer(block, err)
	if o := call.answer.outcome; o == got || o == unknown {
		c.made.add(pool.Name, name)
	}
}
