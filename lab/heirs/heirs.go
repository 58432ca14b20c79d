// Package heirs runs agents that delete claims, pools, classes and whole projects, and make new objects by the same names. Each request goes to one
// of several servers. That server may have cached the deleted object. Each response must show the objects that exist now. Each agent has its own
// project and sends one request after another, so the agent knows which objects exist.
package heirs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/herd"
)

type obj = map[string]any

// Heirs runs the agents and collects the wrong responses.
type Heirs struct {
	Ask     func(ctx context.Context, server int, method, path string, body any) herd.Answer
	Servers int
	Agents  int
	Rounds  int             // largest number of rounds of each agent
	Over    <-chan struct{} // when it is closed, an agent stops after Least rounds
	Seed    uint64

	mu    sync.Mutex
	wrong []string
	tally map[string]int
}

// Least is the number of rounds that each agent makes even if Over is closed, so that every run tests something.
const Least = 4

// Work runs the agents and returns when all have finished.
func (h *Heirs) Work(ctx context.Context) {
	h.tally = map[string]int{}
	var agents sync.WaitGroup
	for n := range h.Agents {
		a := &agent{Heirs: h, number: n, world: worlds[n%len(worlds)], dice: rand.New(rand.NewPCG(h.Seed, uint64(n)))} //nolint:gosec // chance, and no secret
		agents.Go(func() { a.work(ctx) })
	}
	agents.Wait()
}

// Judge returns the wrong responses and the counts of the agents' work.
func (h *Heirs) Judge() (wrong []string, tally map[string]int) { return h.wrong, h.tally }

// agent is the only user of its project.
type agent struct {
	*Heirs

	number   int
	world    world
	dice     *rand.Rand
	projects int    // number of projects that it has used
	project  string // the current project; empty before the first
	pool     string // name of the pool
	cidr     netip.Prefix
	pools    int    // number of pools that the agent has made
	bits     int    // prefix length of a claim
	carved   string // name of the last claim's pool
}

// world describes one kind of object that an agent replaces. The agent deletes the object and makes it again between two claims with the same name.
type world struct {
	name  string
	spec  func(a *agent) obj
	again func(a *agent, ctx context.Context) bool // deletes the object and makes it again; returns false as agent.round does
}

var worlds = []world{
	{"pool", inPool, (*agent).otherPool},
	{"project", inPool, (*agent).otherProject},
	{"class", byClass, (*agent).otherClass},
	{"scope", inScope, (*agent).otherScope},
	{"expired scope", inScope, (*agent).expiredScope},
}

// work makes the rounds. A request with an unknown outcome may take effect later, so the agent then continues in a new project.
func (a *agent) work(ctx context.Context) {
	there := false
	for round := range a.Rounds {
		if round >= Least && a.over() {
			return
		}
		if !there {
			a.projects++
			a.project = fmt.Sprintf("heirs-%d-%d", a.number, a.projects)
			there = a.makeProject(ctx) && a.furnish(ctx)
		}
		there = there && a.round(ctx) && (a.dice.IntN(3) == 0 || a.world.again(a, ctx))
	}
}

func (a *agent) over() bool {
	select {
	case <-a.Over:
		return true
	default:
		return false
	}
}

func (a *agent) makeProject(ctx context.Context) bool {
	return a.changes(ctx, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": a.project}})
}

// furnish makes the pool, and the class if the world has one. The pools of an agent never overlap. So the block of a claim shows from which pool it
// comes.
func (a *agent) furnish(ctx context.Context) bool {
	a.pool, a.bits = []string{"x", "z"}[a.dice.IntN(2)], 28+a.dice.IntN(3)
	a.pools++
	a.cidr = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(a.pools >> 4), byte(a.pools << 4), 0}), 20) //nolint:gosec // an agent makes fewer than 4,096 pools
	spec := obj{"cidr": a.cidr.String()}
	class := obj{"ipFamily": "IPv4", "defaultPrefixLength": a.bits}
	if a.scoped() {
		class["poolPer"], class["poolPrefixLength"], class["emptyPoolTTL"] = []string{"project", "site"}, 24, "0s"
	}
	if a.scoped() || a.world.name == "class" {
		spec["classNames"] = []string{"k"}
		if !a.changes(ctx, http.MethodPost, a.at("classes"), obj{"metadata": obj{"name": "k"}, "spec": class}) {
			return false
		}
	}
	return a.changes(ctx, http.MethodPost, a.at("pools"), obj{"metadata": obj{"name": a.pool}, "spec": spec})
}

func (a *agent) scoped() bool { return a.world.name == "scope" || a.world.name == "expired scope" }

func inPool(a *agent) obj { return obj{"poolRef": obj{"name": a.pool}, "prefixLength": a.bits} }
func byClass(*agent) obj  { return obj{"className": "k"} }
func inScope(a *agent) obj {
	return obj{"className": "k", "scope": obj{"site": []string{"ber", "muc"}[a.dice.IntN(2)]}}
}

func (a *agent) otherPool(ctx context.Context) bool {
	return a.changes(ctx, http.MethodDelete, a.at("pools", a.pool), nil) && a.furnish(ctx)
}

func (a *agent) otherProject(ctx context.Context) bool {
	return a.changes(ctx, http.MethodDelete, a.at("pools", a.pool), nil) && a.changes(ctx, http.MethodDelete, "/v1/projects/"+a.project, nil) &&
		a.makeProject(ctx) && a.furnish(ctx)
}

func (a *agent) otherClass(ctx context.Context) bool {
	return a.changes(ctx, http.MethodDelete, a.at("pools", a.pool), nil) && a.changes(ctx, http.MethodDelete, a.at("classes", "k"), nil) && a.furnish(ctx)
}

// otherScope deletes the pool of the last claim, unless that pool has expired. The next claim of the scope carves a new pool with the same name.
func (a *agent) otherScope(ctx context.Context) bool {
	answer, certain := a.ask(ctx, http.MethodDelete, a.at("pools", a.carved), nil)
	if certain && answer.Status >= 300 && answer.Code != ipam.CodeNotFound {
		a.violated("DELETE of the pool of an empty scope: %d %s", answer.Status, answer.Body)
	}
	return certain
}

// expiredScope waits until the pool of the last claim has expired. It stops if the other clients of the run have ended.
func (a *agent) expiredScope(ctx context.Context) bool {
	for {
		answer, certain := a.ask(ctx, http.MethodGet, a.at("classes/k/scopes"), nil)
		if !certain {
			return false
		}
		var scopes struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		if answer.Status >= 300 || json.Unmarshal(answer.Body, &scopes) != nil {
			a.violated("GET of the scopes of a class that exists: %d %s", answer.Status, answer.Body)
			return false
		}
		there := false
		for _, scope := range scopes.Items {
			there = there || scope.Metadata.Name == a.carved
		}
		if !there {
			a.count("scopes that expired")
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-a.Over:
			return true
		case <-time.After(time.Second):
		}
	}
}

// claim holds the fields of a claim that the agents compare.
type claim struct {
	Metadata struct{ UID string }
	Status   struct {
		AllocatedCIDR netip.Prefix
		PoolRef       struct{ Name string }
	}
}

// round makes a claim, reads it, releases it, and checks that it is gone. It returns false if the outcome of a change is unknown or wrong.
func (a *agent) round(ctx context.Context) bool {
	answer, certain := a.ask(ctx, http.MethodPut, a.at("claims/y"), obj{"spec": a.world.spec(a)})
	if !certain {
		return false
	}
	var made, got claim
	if answer.Status >= 300 || json.Unmarshal(answer.Body, &made) != nil {
		a.violated("PUT of a claim, which can be made: %d %s", answer.Status, answer.Body)
		return false
	}
	if made.Status.AllocatedCIDR.Bits() != a.bits || !a.cidr.Contains(made.Status.AllocatedCIDR.Addr()) {
		a.violated("the claim has %v, and a claim gets a /%d of %v", made.Status.AllocatedCIDR, a.bits, a.cidr)
	}
	a.carved = made.Status.PoolRef.Name
	a.count("claims by name, " + a.world.name + " made again")
	if answer, certain = a.ask(ctx, http.MethodGet, a.at("claims/y"), nil); certain && (answer.Status >= 300 || json.Unmarshal(answer.Body, &got) != nil || got != made) {
		a.violated("GET of claim %v, which exists: %d %s", made, answer.Status, answer.Body)
	}
	if a.dice.IntN(4) == 0 {
		if answer, certain = a.ask(ctx, http.MethodDelete, a.at("claims/y?dryRun=true"), nil); certain && answer.Status >= 300 {
			a.violated("dry run of the DELETE of a claim that exists: %d %s", answer.Status, answer.Body)
		}
	}
	if !a.changes(ctx, http.MethodDelete, a.at("claims/y"), nil) {
		return false
	}
	if answer, certain = a.ask(ctx, http.MethodGet, a.at("claims/y"), nil); certain && answer.Code != ipam.CodeNotFound {
		a.violated("GET of a claim that was released: %d %s", answer.Status, answer.Body)
	}
	return true
}

func (a *agent) at(parts ...string) string {
	return strings.Join(append([]string{"/v1/projects", a.project}, parts...), "/")
}

// changes requests a change that the server must make. It returns false if the outcome is unknown or the server refuses.
func (a *agent) changes(ctx context.Context, method, path string, body any) bool {
	answer, certain := a.ask(ctx, method, path, body)
	if certain && answer.Status >= 300 {
		a.violated("%s %s, which can be done: %d %s", method, path, answer.Status, answer.Body)
	}
	return certain && answer.Status < 300
}

// tries limits the repeats of a request.
const tries = 60

// notDone lists the codes that mean that the request changed nothing and may be repeated.
var notDone = []ipam.Code{ipam.CodeContention, ipam.CodeUnavailable, ipam.CodeRateLimited}

// ask sends a request to one of the servers. It repeats the request while nothing was changed. It repeats a read until a server responds.
func (a *agent) ask(ctx context.Context, method, path string, body any) (answer herd.Answer, certain bool) {
	for range tries {
		answer = a.Ask(ctx, a.dice.IntN(a.Servers), method, path, body)
		if !answer.Unsure {
			return answer, true
		}
		if method != http.MethodGet && !slices.Contains(notDone, answer.Code) {
			return answer, false
		}
		select {
		case <-ctx.Done():
			return answer, false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return answer, false
}

func (a *agent) violated(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, a.project+": "+fmt.Sprintf(format, args...))
}

func (a *agent) count(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally[what]++
}
