package chaos

import (
	"context"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/heirs"
	"github.com/carve-ipam/carve/lab/herd"
)

// newHerd makes the run's agents, which manage machines that use claims (package herd). They work in their own project, on all servers of the run.
func (run *run) newHerd(ctx context.Context) error {
	if run.plan.Agents == 0 {
		return nil
	}
	run.herd = &herd.Herd{Agents: run.plan.Agents, Rounds: run.plan.Operations / 8, Seed: run.plan.Seed, Ask: run.agentAsks}
	return run.herd.Furnish(ctx)
}

// newHeirs returns agents that delete objects and make new ones by the same names (package heirs). They work in their own projects, on all servers of
// the run. They end when the clients have ended.
func (run *run) newHeirs(over <-chan struct{}) *heirs.Heirs {
	return &heirs.Heirs{
		Servers: len(run.plan.Regions), Agents: run.plan.Heirs, Rounds: run.plan.Operations / 6, Over: over, Seed: run.plan.Seed, Ask: run.agentAsks,
	}
}

// inherited records the wrong responses that the agents of package heirs got.
func (run *run) inherited(res *Result) {
	wrong, tally := run.heirs.Judge()
	for _, one := range wrong {
		run.ledger.violated("heirs", "", "%s", one)
	}
	for what, n := range tally {
		res.Tally["heirs: "+what] += n
	}
}

// agentAsks sends a request of an agent of package herd or heirs.
func (run *run) agentAsks(ctx context.Context, server int, method, path string, body any) herd.Answer {
	r := run.regions[server%len(run.regions)]
	a := run.caller.do(ctx, r, request{method: method, path: path, body: body, patience: run.plan.Timeout * 2})
	run.requests.Add(1)
	run.ledger.note("agent", "%s %s to server %d: %d %s %v", method, path, r.index, a.status, a.code, a.err)
	if wrong := a.improper(); wrong != "" {
		run.ledger.violated("answer", "agent", "%s: %s %s: %d %s", wrong, method, path, a.status, a.body)
	}
	return herd.Answer{Status: a.status, Code: a.code, Body: a.body, Unsure: slices.Contains([]meaning{unsure, unchanged}, a.meaning()) || a.code == ipam.CodeRateLimited}
}

// herded judges the responses that the agents of package herd got.
func (run *run) herded(ctx context.Context, res *Result) error {
	if run.herd == nil {
		return nil
	}
	wrong, err := run.herd.Judge(ctx)
	for _, one := range wrong {
		run.ledger.violated("herd", "", "%s", one)
	}
	for what, n := range run.herd.Tally {
		res.Tally["herd: "+what] += n
	}
	return err
}
