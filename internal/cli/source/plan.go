package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// planNode is a space, class, pool or claim in an address plan. Members without a field in this type belong to the spec.
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

// readPlan reads address plans that contain all blocks, such as those from `ipamctl export -o plan`.
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
		if err := cmp.Or(
			out.planList("spaces", Space, whole.Spaces, "", ""), out.planList("classes", Class, whole.Classes, "", ""),
			out.planList("pools", Pool, whole.Pools, "", ""), out.planList("claims", Claim, whole.Claims, "", ""),
		); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// planList reads a list and the lists below its objects.
func (out *Reading) planList(at string, kind Kind, list []json.RawMessage, space, parent string) error {
	for i, text := range list {
		where := at + "[" + strconv.Itoa(i) + "]"
		var n planNode
		var spec map[string]json.RawMessage
		if err := cmp.Or(json.Unmarshal(text, &n), json.Unmarshal(text, &spec)); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		for name := range strings.FieldsSeq("name labels annotations space cidr address description pools claims pool prefixLength") {
			if kind != Class || name != "description" && name != "prefixLength" {
				delete(spec, name)
			}
		}
		rest, err := show.Marshal(spec)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		r := Record{ID: where, Kind: kind, Name: n.Name, Own: &Own{Space: space, Labels: n.Labels, Annotations: n.Annotations, Spec: rest}}
		if kind != Class {
			r.Fields.Set("description", n.Description)
		}
		if kind == Pool && parent == "" {
			r.Own.Space = show.FirstOf(n.Space, "default")
		}
		r.Own.Parent = show.FirstOf(n.Pool, parent)
		if kind == Pool || kind == Claim {
			r.planBlock(n)
		}
		out.Records.add(r)
		if err := cmp.Or(
			out.planList(where+".pools", Pool, n.Pools, r.Own.Space, n.Name), out.planList(where+".claims", Claim, n.Claims, r.Own.Space, n.Name),
		); err != nil {
			return err
		}
	}
	return nil
}

// planBlock sets a record's block. If the plan has none, the server would choose one, and only `ipamctl apply` can handle that.
func (r *Record) planBlock(n planNode) {
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
