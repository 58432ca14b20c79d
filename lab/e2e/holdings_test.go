package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/carve-ipam/carve/client"
)

// holdings records the current holder of each block, as the clients see it.
type holdings struct {
	mu     sync.Mutex
	blocks map[string]string // claim by block
}

// take records that a claim holds a block. The block must not overlap the block of another claim.
func (h *holdings) take(t testing.TB, claim, block string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for other, who := range h.blocks {
		if !apart(block, other) {
			t.Errorf("%s got %s while %s holds %s", claim, block, who, other)
		}
	}
	h.blocks[block] = claim
}

// give records that a client is about to release a block. From then on, another claim may get the block.
func (h *holdings) give(block string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.blocks, block)
}

// churn claims and releases blocks of changing sizes, one at a time.
func (h *holdings) churn(t testing.TB, c *caller, who, rounds int) {
	t.Helper()
	for i := range rounds {
		name := fmt.Sprintf("c%d-%d", who, i)
		a, err := c.try(t.Context(), t, http.MethodPost, at("claims"), named(name, from("p", 26+(who+i)%7)))
		if err != nil {
			t.Error(err)
			return
		}
		if p, isProblem := problemOf(a); isProblem {
			if p.Code != "pool_exhausted" {
				t.Errorf("%s: %s", name, a.body)
			}
			continue
		}
		block := decode[client.IPClaim](t, a).Status.AllocatedCIDR
		h.take(t, name, block)
		h.give(block)
		if a, err = c.try(t.Context(), t, http.MethodDelete, at("claims", name), nil); err != nil || a.status != http.StatusNoContent {
			t.Errorf("%s: %v %s", name, err, a.body)
		}
	}
}
