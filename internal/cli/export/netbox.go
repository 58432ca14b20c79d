package export

import (
	"bytes"
	"encoding/csv"
	"net/netip"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/stock"
)

// vrf is the VRF of a space: NetBox has none for the one that everybody has.
func vrf(space string) string {
	if space == "default" {
		return ""
	}
	return space
}

// asNetBox is NetBox' import: its VRFs, its prefixes, its ranges and its addresses.
func asNetBox(v *inventory) (files, error) {
	tables := map[string]*bytes.Buffer{}
	writers := map[string]*csv.Writer{}
	names := []string{"vrfs.csv", "prefixes.csv", "ip-ranges.csv", "ip-addresses.csv"}
	for n, header := range [][]string{
		{"name", "description"}, {"prefix", "vrf", "status", "description"}, {"start_address", "end_address", "vrf", "status", "description"},
		{"address", "vrf", "status", "dns_name", "description"},
	} {
		tables[names[n]] = &bytes.Buffer{}
		writers[names[n]] = csv.NewWriter(tables[names[n]])
		_ = writers[names[n]].Write(header) // into memory
	}
	put := func(name string, cells ...string) { _ = writers[name].Write(cells) }
	spaces := map[string]string{}
	for _, s := range v.spaces {
		if s.Metadata.Name != "default" {
			put("vrfs.csv", s.Metadata.Name, s.Spec.Description)
		}
	}
	for _, p := range v.pools {
		spaces[p.Metadata.Name] = p.space
		status := "active"
		if len(p.children) > 0 {
			status = "container"
		}
		put("prefixes.csv", p.Status.AllocatedCIDR, vrf(p.space), status, show.FirstOf(strings.TrimSpace(p.Spec.Description), p.Metadata.Name))
		for _, r := range p.Spec.Reservations {
			from, to := stock.Bounds(p.block, r)
			bits := "/" + strconv.Itoa(p.block.Bits())
			put("ip-ranges.csv", from.String()+bits, to.String()+bits, vrf(p.space), "reserved", r.Reason)
		}
	}
	for _, c := range v.claims {
		block, err := netip.ParsePrefix(c.Status.AllocatedCIDR)
		if err != nil {
			return nil, err
		}
		status, about := show.FirstOf(c.Metadata.Labels["status"], "active"), show.FirstOf(strings.TrimSpace(c.Metadata.Annotations["description"]), c.Metadata.Name)
		if block.IsSingleIP() {
			put("ip-addresses.csv", block.String(), vrf(spaces[c.pool]), status, c.Metadata.Name, about)
		} else {
			put("prefixes.csv", block.String(), vrf(spaces[c.pool]), status, about)
		}
	}
	var out files
	for _, name := range names {
		writers[name].Flush()
		out = append(out, files{{name, tables[name].Bytes()}}...)
	}
	return out, nil
}
