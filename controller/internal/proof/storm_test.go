package proof_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
)

// storm changes pods and machines at random.
type storm struct {
	*world
	slots, nodes int
	// rate is the number of steps in a second, and length is the duration.
	rate   int
	length time.Duration
	// losses is the number of pods that the storm may still report as lost. Carve's breaker acts on a realm that has lost more than 20 consumers, and
	// a tenth of all, within ten minutes.
	losses atomic.Int32
	steps  atomic.Int64
	began  atomic.Int64
	// machines are the machines at the present time, by their places. A place without a machine is nil.
	machines []*machine
	moved    atomic.Int64
}

// slot is a name that several pods have in turn, like the pods of a StatefulSet.
type slot struct {
	name  string
	nodes []string
	now   *life
	stage stage
}

// stage is the present state of a slot's pod.
type stage int

const (
	empty stage = iota
	pending
	running
	ending   // its deletion has begun
	finished // it, or its node, has ended
)

// many is the number of concurrent players, each with its own slots and nodes.
const many = 8

// rages makes steps until the time is up. It leaves no pod whose deletion has begun.
func (s *storm) rages(ctx context.Context) {
	pace := time.NewTicker(time.Second / time.Duration(s.rate))
	defer pace.Stop()
	over, cancel := context.WithTimeout(ctx, s.length)
	defer cancel()
	var players sync.WaitGroup
	for i := range many {
		players.Go(func() { s.plays(ctx, over, i, pace.C) })
	}
	for place := range s.machines {
		players.Go(func() { s.drives(ctx, over, place, pace.C) })
	}
	players.Wait()
}

// plays is one player. It fills all its slots with pods, and then changes them.
func (s *storm) plays(ctx, over context.Context, player int, pace <-chan time.Time) {
	var nodes []string
	for i := player; i < s.nodes; i += many {
		nodes = append(nodes, fmt.Sprintf("%s-node-%d", s.name, i))
		s.node(ctx, nodes[len(nodes)-1], true)
	}
	var slots []*slot
	for i := player; i < s.slots; i += many {
		<-pace
		at := &slot{name: fmt.Sprintf("web-%d", i), nodes: nodes}
		slots = append(slots, at)
		s.begins(ctx, at)
	}
	for over.Err() == nil {
		select {
		case <-over.Done():
		case <-pace:
			s.steps.Add(1)
			if rand.IntN(50*len(slots)) == 0 {
				s.dies(ctx, nodes[rand.IntN(len(nodes))], slots)
				continue
			}
			s.step(ctx, slots[rand.IntN(len(slots))])
		}
	}
	for _, at := range slots {
		if at.stage == ending {
			s.leaves(ctx, at)
		}
	}
}

// drives creates a machine, moves it between namespaces, ends it, and creates the next one. The last machine lives when drives returns.
func (s *storm) drives(ctx, over context.Context, place int, pace <-chan time.Time) {
	now := &s.machines[place]
	for n := 1; over.Err() == nil; {
		select {
		case <-over.Done():
			return
		case <-pace:
		}
		switch {
		case *now == nil:
			*now = s.arrives(ctx, fmt.Sprintf("machine-%d-%d", place, n), place%2 == 0)
			n++
		case rand.IntN(8) == 0:
			s.goes(ctx, *now)
			*now = nil
		case s.travels(ctx, *now):
			s.moved.Add(1)
		}
		if rand.IntN(4) == 0 {
			s.do(ctx, "collect garbage", func() error { return s.collects(ctx) })
		}
	}
}

// movesEach moves each live machine once more. A machine moves only when it has its address, so no fault may continue.
func (s *storm) movesEach(ctx context.Context) {
	var drivers sync.WaitGroup
	for _, m := range s.living() {
		drivers.Go(func() {
			for !s.travels(ctx, m) {
				if ctx.Err() != nil {
					return
				}
				<-time.After(100 * time.Millisecond)
			}
			s.moved.Add(1)
		})
	}
	drivers.Wait()
}

// begins starts a pod in a slot.
func (s *storm) begins(ctx context.Context, at *slot) {
	s.began.Add(1)
	node, claims := at.nodes[rand.IntN(len(at.nodes))], 1
	if rand.IntN(10) == 0 {
		claims = 2
	}
	at.stage = running
	if rand.IntN(5) == 0 {
		at.stage, node = pending, ""
	}
	at.now = s.starts(ctx, at.name, node, claims, rand.IntN(2) == 0)
}

func (s *storm) leaves(ctx context.Context, at *slot) {
	s.removes(ctx, at.now)
	at.now, at.stage = nil, empty
}

// dies deletes a node and its pods, like the loss of a machine, and creates the node again.
func (s *storm) dies(ctx context.Context, node string, slots []*slot) {
	s.node(ctx, node, false)
	for _, at := range slots {
		if at.now != nil && at.now.node == node {
			s.leaves(ctx, at)
		}
	}
	s.node(ctx, node, true)
}

// step changes the pod of a slot.
func (s *storm) step(ctx context.Context, at *slot) {
	switch at.stage {
	case empty:
		s.begins(ctx, at)
	case pending:
		if rand.IntN(3) > 0 {
			s.binds(ctx, at.now, at.nodes[rand.IntN(len(at.nodes))])
			at.stage = running
			return
		}
		s.ends(at.now)
		s.deletes(ctx, at.now)
		at.now, at.stage = nil, empty
	case ending, finished:
		s.leaves(ctx, at)
		if rand.IntN(2) == 0 { // a StatefulSet creates the next pod at once
			s.begins(ctx, at)
		}
	case running:
		s.moves(ctx, at)
	}
}

// moves changes a running pod.
func (s *storm) moves(ctx context.Context, at *slot) {
	lost := func(how func()) {
		if s.losses.Add(-1) < 0 {
			return
		}
		s.ends(at.now)
		how()
		at.stage = finished
	}
	switch chance := rand.IntN(100); {
	case chance < 35:
		s.phase(ctx, at.now, core.PodRunning, "")
	case chance < 55:
		s.leaves(ctx, at)
		s.begins(ctx, at)
	case chance < 70:
		s.deletes(ctx, at.now)
		at.stage = ending
	case chance < 80:
		s.evicts(ctx, at.now)
		at.stage = ending
	case chance < 92:
		s.ends(at.now)
		s.phase(ctx, at.now, []core.PodPhase{core.PodSucceeded, core.PodFailed}[rand.IntN(2)], "")
		at.stage = finished
	case chance < 94:
		lost(func() { s.taints(ctx, at.now) })
	case chance < 96:
		lost(func() { s.phase(ctx, at.now, core.PodUnknown, "NodeLost") })
	default:
		s.withdraws(ctx, at.now)
	}
}
