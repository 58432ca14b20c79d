// Package herd runs agents with machines that use claims as consumers. The consumers attach, renew, detach and end, or die without a request. The
// package checks that these rules hold under any fault:
//
//   - The last consumer that leaves a claim releases the claim, exactly once.
//   - No claim is released while a live consumer is attached.
//   - An ended consumer never comes back.
//   - A consumer that renews in time does not expire.
//
// The function Ask sends the requests, so that package chaos and a test can run the same agents.
package herd

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/lab/consistency"
)

// Project is the project in which only these agents work.
const Project = "herd"

// Answer is the outcome of a request.
type Answer struct {
	Status int
	Code   ipam.Code // code of a refusal
	Body   []byte
	Unsure bool // the outcome is unknown, or the server could not work on the request; the agent repeats it
}

func (a Answer) ok() bool { return !a.Unsure && a.Status < 300 }

type obj = map[string]any

// Herd runs the agents and records their observations. Two agents share each claim.
type Herd struct {
	Ask    func(ctx context.Context, server int, method, path string, body any) Answer // sends a request; the herd takes the servers in turn
	Agents int
	Rounds int // of each agent
	Seed   uint64

	history *consistency.Consumers
	mu      sync.Mutex
	wrong   []string
	asked   int
	lost    []string // claims whose consumers no longer renew and must expire
	Tally   map[string]int
}

// ttl is the time to live of the consumers. It is the shortest that the API allows.
const ttl = 10 * time.Second

// Furnish makes the project and its pool, while no faults are active.
func (h *Herd) Furnish(ctx context.Context) error {
	h.history, h.Tally = consistency.NewConsumers(), map[string]int{}
	for path, body := range map[string]obj{"/v1/projects": {"metadata": obj{"name": Project}}} {
		if a := h.ask(ctx, http.MethodPost, path, body); !a.ok() {
			return fmt.Errorf("POST %s: %d %s", path, a.Status, a.Body)
		}
	}
	a := h.ask(ctx, http.MethodPost, at("pools"), obj{"metadata": obj{"name": "p"}, "spec": obj{"cidr": "10.200.0.0/16"}})
	if !a.ok() {
		return fmt.Errorf("POST %s: %d %s", at("pools"), a.Status, a.Body)
	}
	return nil
}

func at(path string) string { return "/v1/projects/" + Project + "/" + path }

func consumer(uid string) string { return at("realms/default/consumers/" + uid) }

// ask sends a request to the next server.
func (h *Herd) ask(ctx context.Context, method, path string, body any) Answer {
	h.mu.Lock()
	h.asked++
	server := h.asked
	h.mu.Unlock()
	return h.Ask(ctx, server, method, path, body)
}

// tries limits the repeats of a request with an unknown outcome.
const tries = 60

// insist repeats a request until its outcome is certain. It returns false if the outcome stays unknown.
func (h *Herd) insist(ctx context.Context, method, path string, body any) (a Answer, certain bool) {
	for range tries {
		if a = h.ask(ctx, method, path, body); !a.Unsure {
			return a, true
		}
		select {
		case <-ctx.Done():
			return a, false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return a, false
}

func (h *Herd) violated(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = append(h.wrong, fmt.Sprintf(format, args...))
}

func (h *Herd) count(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Tally[what]++
}

// Work runs the agents until they have finished. Then it stops the consumers that only renew.
func (h *Herd) Work(ctx context.Context) {
	working, over := context.WithCancel(ctx)
	defer over()
	var agents, keepers sync.WaitGroup
	for n := range h.Agents {
		a := &agent{Herd: h, number: n, dice: rand.New(rand.NewPCG(h.Seed, uint64(n)))} //nolint:gosec // chance, and no secret
		agents.Go(func() {
			for i := range h.Rounds {
				a.round(ctx, i)
			}
		})
	}
	keepers.Go(func() { h.keep(working) })
	agents.Wait()
	over()
	keepers.Wait()
}

// keep attaches one consumer to a claim and always renews it in time. So the consumer must never expire.
func (h *Herd) keep(ctx context.Context) {
	const uid = "keeper"
	spec := obj{"poolRef": obj{"name": "p"}, "prefixLength": 32, "whenUnused": "Delete", "consumers": []obj{{"uid": uid, "ttlSeconds": int(ttl / time.Second)}}}
	renewed := time.Now() // the time before the first attempt, because that attempt may have made the consumer
	if a, certain := h.insist(ctx, http.MethodPut, at("claims/kept"), obj{"spec": spec}); !certain || !a.ok() {
		return
	}
	for ctx.Err() == nil {
		asked := time.Now()
		a := h.ask(ctx, http.MethodPost, at("consumer-renewals"), obj{"consumers": []string{uid}})
		switch {
		case a.ok() && said(a, "ended", uid) && time.Since(renewed) < ttl:
			h.violated("keeper: ended %v after it was renewed", time.Since(renewed))
		case a.ok() && said(a, "renewed", uid):
			renewed = asked
			h.count("renewed")
		}
		select {
		case <-ctx.Done():
		case <-time.After(ttl / 10):
		}
	}
}

// said reports whether a list in the response to a renewal contains a UID.
func said(a Answer, list, uid string) bool {
	var lists map[string][]string
	return json.Unmarshal(a.Body, &lists) == nil && slices.Contains(lists[list], uid)
}

// agent simulates one machine after another. Its machines share claims with the machines of its neighbour.
type agent struct {
	*Herd

	number int
	dice   *rand.Rand
}

func (a *agent) round(ctx context.Context, i int) {
	claim, uid := fmt.Sprintf("c%d-%d", a.number/2, i), fmt.Sprintf("u%d-%d", a.number, i)
	if i%4 == 3 {
		a.die(ctx, i)
		return
	}
	if !a.enter(ctx, claim, uid) {
		return
	}
	a.look(ctx, claim, uid)
	switch a.dice.IntN(3) {
	case 0:
		a.leave(ctx, claim, uid)
		if a.enter(ctx, claim, uid) {
			a.look(ctx, claim, uid)
			a.end(ctx, claim, uid)
		}
	case 1:
		a.leave(ctx, claim, uid)
	default:
		a.end(ctx, claim, uid)
	}
	a.look(ctx, claim, "")
}

// enter attaches a consumer to the claim. If the claim does not exist, it makes the claim with the consumer. It reports whether the consumer is
// attached.
func (a *agent) enter(ctx context.Context, claim, uid string) bool {
	call := a.history.Enters(a.number, claim, uid)
	for range tries {
		answer, certain := a.insist(ctx, http.MethodPut, at("claims/"+claim+"/consumers/"+uid), obj{})
		if certain && answer.Code == ipam.CodeNotFound {
			spec := obj{"poolRef": obj{"name": "p"}, "prefixLength": 32, "whenUnused": "Delete", "maxConsumers": 8, "consumers": []obj{{"uid": uid}}}
			answer, certain = a.insist(ctx, http.MethodPost, at("claims"), obj{"metadata": obj{"name": claim}, "spec": spec})
			if certain && answer.Code == ipam.CodeAlreadyExists {
				continue // an earlier attempt or the neighbour made the claim
			}
		}
		switch {
		case !certain:
			return false
		case answer.ok():
			call.Done()
			a.count("attached")
			return true
		case answer.Code == ipam.CodeConsumerEnded:
			call.Refused()
			a.count("refused for having ended")
			return false
		default:
			a.violated("%s enters %s: %d %s", uid, claim, answer.Status, answer.Body)
			return false
		}
	}
	return false
}

// look reads the claim. While a live consumer is attached, the read must find the claim.
func (a *agent) look(ctx context.Context, claim, by string) {
	call := a.history.Looks(a.number, claim)
	answer, certain := a.insist(ctx, http.MethodGet, at("claims/"+claim), nil)
	if !certain {
		return
	}
	call.Saw(answer.ok())
	if by != "" && !answer.ok() {
		a.violated("%s was released while %s lived and was attached to it: %d %s", claim, by, answer.Status, answer.Body)
	}
}

func (a *agent) leave(ctx context.Context, claim, uid string) {
	call := a.history.Leaves(a.number, claim, uid)
	if answer, certain := a.insist(ctx, http.MethodDelete, at("claims/"+claim+"/consumers/"+uid), nil); certain {
		call.Done()
		a.count("detached")
		if !answer.ok() {
			a.violated("%s leaves %s: %d %s", uid, claim, answer.Status, answer.Body)
		}
	}
}

// end ends a consumer and then tries to attach it again, which the service must refuse.
func (a *agent) end(ctx context.Context, claim, uid string) {
	call := a.history.Ends(a.number, claim, uid)
	answer, certain := a.insist(ctx, http.MethodDelete, consumer(uid), nil)
	switch {
	case !certain:
		return
	case answer.Status == http.StatusAccepted:
		call.Later()
	default:
		call.Done()
	}
	a.count("ended")
	if !answer.ok() {
		a.violated("%s is not ended: %d %s", uid, answer.Status, answer.Body)
	}
	if a.enter(ctx, claim, uid) {
		a.violated("%s was attached after its end", uid)
	}
	if late, sure := a.insist(ctx, http.MethodPost, at("consumer-renewals"), obj{"consumers": []string{uid}}); sure && !said(late, "ended", uid) {
		a.violated("a late renewal of %s: %d %s", uid, late.Status, late.Body)
	}
}

// die makes a claim with a consumer and never renews the consumer, as if the machine had died.
func (a *agent) die(ctx context.Context, i int) {
	name := fmt.Sprintf("lost%d-%d", a.number, i)
	spec := obj{"poolRef": obj{"name": "p"}, "prefixLength": 32, "whenUnused": "Delete", "consumers": []obj{{"uid": name, "ttlSeconds": int(ttl / time.Second)}}}
	answer, certain := a.insist(ctx, http.MethodPut, at("claims/"+name), obj{"spec": spec})
	if certain && answer.ok() {
		a.mu.Lock()
		a.lost = append(a.lost, name)
		a.mu.Unlock()
	}
}
