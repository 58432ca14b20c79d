package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// planNode is a space, class, pool or claim of an address plan. If a member has no field in this type, it belongs to the spec.
type planNode struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Space       string            `json:"space"`
	CIDR        string            `json:"cidr"`
	Address     string            `json:"address"`
	Description string            `json:"description"`
	Pool        string            `json:"pool"`
	Pools       []json.RawMessage `json:"pools"`
	Claims      []json.RawMessage `json:"claims"`
}

// readPlan reads address plans that contain all blocks, such as the output of `ipamctl export -o plan`.
func readPlan(files []File, out *Reading) error {
	for _, f := range files {
		text, err := f.whole()
		if err != nil {
			return err
		}
		doc, err := show.JSONOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		var whole struct {
			Project json.RawMessage   `json:"project"`
			Spaces  []json.RawMessage `json:"spaces"`
			Classes []json.RawMessage `json:"classes"`
			Pools   []json.RawMessage `json:"pools"`
			Claims  []json.RawMessage `json:"claims"`
		}
		d := json.NewDecoder(bytes.NewReader(doc))
		d.DisallowUnknownFields()
		if err := d.Decode(&whole); err != nil {
			return fmt.Errorf("%s: it is not an address plan: %w", f.Name, err)
		}
		p := planReading{}
		p.list("spaces", Space, whole.Spaces, "", "")
		p.list("classes", Class, whole.Classes, "", "")
		p.list("pools", Pool, whole.Pools, "", "")
		p.list("claims", Claim, whole.Claims, "", "")
		if p.err != nil {
			return fmt.Errorf("%s: %w", f.Name, p.err)
		}
		out.Records.add(p.records...)
	}
	return nil
}

type planReading struct {
	records []Record
	err     error
}

// list reads a list of objects and the objects below them.
func (p *planReading) list(at string, kind Kind, list []json.RawMessage, space, parent string) {
	for i, text := range list {
		where := at + "[" + strconv.Itoa(i) + "]"
		var n planNode
		var spec map[string]json.RawMessage
		if err := json.Unmarshal(text, &n); err != nil {
			p.err = fmt.Errorf("%s: %w", where, err)
			return
		}
		if err := json.Unmarshal(text, &spec); err != nil {
			p.err = fmt.Errorf("%s: %w", where, err)
			return
		}
		for name := range strings.FieldsSeq("name labels annotations space cidr address description pools claims pool prefixLength") {
			if kind != Class || name != "description" && name != "prefixLength" {
				delete(spec, name)
			}
		}
		rest, err := show.Marshal(spec)
		if err != nil {
			p.err = fmt.Errorf("%s: %w", where, err)
			return
		}
		r := Record{ID: where, Kind: kind, Name: n.Name, Own: &Own{Space: space, Parent: parent, Labels: n.Labels, Annotations: n.Annotations, Spec: rest}}
		if kind != Class {
			r.Fields.Set("description", n.Description)
		}
		if kind == Pool && parent == "" {
			r.Own.Space = show.FirstOf(n.Space, "default")
		}
		if n.Pool != "" {
			r.Own.Parent = n.Pool
		}
		if kind == Pool || kind == Claim {
			p.place(&r, n)
		}
		p.records = append(p.records, r)
		p.list(where+".pools", Pool, n.Pools, r.Own.Space, n.Name)
		p.list(where+".claims", Claim, n.Claims, r.Own.Space, n.Name)
	}
}

// place sets the block of a pool or a claim. If there is no block, the server would choose one, and only `ipamctl apply` can handle that.
func (p *planReading) place(r *Record, n planNode) {
	switch {
	case n.CIDR != "":
		r.network(n.CIDR)
	case n.Address != "":
		if address, err := netip.ParseAddr(n.Address); err == nil {
			r.Block = netip.PrefixFrom(address, address.BitLen())
		} else {
			r.Problem = shown(n.Address) + " is not an address" + hint(n.Address)
		}
	default:
		r.Problem = "it has no block: use `ipamctl apply` for it"
	}
}
