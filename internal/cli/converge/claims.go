package converge

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/packed"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Claim has the fields that comparisons need.
type Claim struct {
	Name, Revision      string
	Block               netip.Prefix
	Pool                client.ResolvedRef
	Labels, Annotations map[string]string
	// Rest is the spec without its block and pool, as ClaimRest returns it.
	Rest Spec
}

// Claims has a project's claims, by name. A project can have very many claims, so each claim is packed in one string. Get decodes that string.
type Claims struct {
	packed []string // sorted by name
	pools  packed.Index[client.ResolvedRef]
	keys   packed.Index[string] // label and annotation keys
	gone   map[string]bool
}

// Get returns a claim. It does not find a claim that Forget has removed.
func (cs *Claims) Get(name string) (c Claim, found bool) {
	if cs.gone[name] {
		return Claim{}, false
	}
	return cs.AsRead(name)
}

// AsRead returns a claim as it was read. It also returns a claim that Forget has removed.
func (cs *Claims) AsRead(name string) (c Claim, found bool) {
	n, found := slices.BinarySearchFunc(cs.packed, name, func(claim, name string) int { return strings.Compare(nameOf(claim), name) })
	if !found {
		return Claim{}, false
	}
	return cs.at(n), true
}

// All iterates over the claims, sorted by name.
func (cs *Claims) All() iter.Seq[Claim] {
	return func(yield func(Claim) bool) {
		for n := range cs.packed {
			if !cs.gone[nameOf(cs.packed[n])] && !yield(cs.at(n)) {
				return
			}
		}
	}
}

// Forget removes a claim.
func (cs *Claims) Forget(name string) { cs.gone[name] = true }

// document is a claim in the server's list.
type document struct {
	Metadata struct {
		Name        string            `json:"name"`
		Project     string            `json:"project"`
		Revision    string            `json:"revision"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec   Spec `json:"spec"`
	Status struct {
		AllocatedCIDR string             `json:"allocatedCIDR"`
		PoolRef       client.ResolvedRef `json:"poolRef"`
		ClassName     string             `json:"className"`
		ClassProject  string             `json:"classProject"`
	} `json:"status"`
}

func readClaims(ctx context.Context, s *session.Session, total *atomic.Int64) (*Claims, error) {
	cs := &Claims{gone: map[string]bool{}}
	if err := Pages(ctx, s, total, s.In("claims"), nil, cs.add); err != nil {
		return nil, err
	}
	slices.SortStableFunc(cs.packed, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	cs.packed = slices.CompactFunc(cs.packed, func(a, b string) bool { return nameOf(a) == nameOf(b) }) // two pages can contain the same claim, if claims changed between the two requests
	return cs, nil
}

func (cs *Claims) add(d document) error {
	block, err := netip.ParsePrefix(d.Status.AllocatedCIDR)
	if err != nil {
		return fmt.Errorf("claim %s: %w", d.Metadata.Name, err)
	}
	rest, err := claimRest(d.Spec, d.Metadata.Project, d.Status.ClassName, d.Status.ClassProject)
	if err != nil {
		return err
	}
	text := ""
	if len(rest) > 0 {
		doc, err := show.Marshal(rest)
		if err != nil {
			return err
		}
		text = string(doc)
	}
	b := packed.AppendBlock(packed.AppendText(make([]byte, 0, 512), d.Metadata.Name), block)
	b = packed.AppendNumber(b, cs.pools.Number(d.Status.PoolRef))
	b = packed.AppendText(packed.AppendToken(b, d.Metadata.Revision), text)
	for _, pairs := range []map[string]string{d.Metadata.Labels, d.Metadata.Annotations} {
		b = packed.AppendNumber(b, uint64(len(pairs)))
		for key, value := range show.Sorted(pairs) {
			b = packed.AppendText(packed.AppendNumber(b, cs.keys.Number(key)), value)
		}
	}
	cs.packed = append(cs.packed, string(b))
	return nil
}

func (cs *Claims) at(n int) (c Claim) {
	u := packed.Rest(cs.packed[n])
	c.Name = u.Text()
	c.Block = u.Block()
	c.Pool = cs.pools.Value(u.Number())
	c.Revision = u.Token()
	if text := u.Text(); text != "" {
		_ = json.Unmarshal([]byte(text), &c.Rest) // add has written this text
	}
	for _, pairs := range []*map[string]string{&c.Labels, &c.Annotations} {
		size := u.Number()
		*pairs = make(map[string]string, size)
		for range size {
			key := cs.keys.Value(u.Number())
			(*pairs)[key] = u.Text()
		}
	}
	return c
}

func nameOf(claim string) string {
	u := packed.Rest(claim)
	return u.Text()
}
