package export

import (
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// longestAbout is NetBox' maximum length of a description in characters.
const longestAbout = 200

// netBox collects the tables of NetBox' import. NetBox refuses a whole table for one bad row, so each row satisfies the checks of NetBox' models
// (netbox/ipam/models/ip.py): a prefix is unique in its VRF and is not /0, a range has at least two addresses, and a status is one of the model's
// choices. A note names each row that is changed or omitted for that.
type netBox struct {
	vrfs, prefixes, ranges, addresses show.Sheet
	taken                             map[[2]string]string // by VRF and block: the thing in the table
	notes                             notes
}

// asNetBox returns the files for NetBox' import: VRFs, prefixes, ranges and addresses.
func asNetBox(v *inventory) (files, error) {
	n := &netBox{taken: map[[2]string]string{}}
	n.vrfs.Row("name", "description")
	n.prefixes.Row("prefix", "vrf", "status", "description")
	n.ranges.Row("start_address", "end_address", "vrf", "status", "description")
	n.addresses.Row("address", "vrf", "status", "dns_name", "description")
	for _, s := range v.spaces {
		if name := vrf(s.Metadata.Name); name != "" {
			n.vrfs.Row(name, n.about("space "+s.Metadata.Name, s.Spec.Description))
		}
	}
	for _, space := range v.spacesElsewhere() {
		n.vrfs.Row(space, "")
	}
	for _, p := range v.pools {
		n.pool(p)
	}
	for _, c := range v.claims {
		if err := n.claim(c); err != nil {
			return nil, err
		}
	}
	v.notes = append(v.notes, n.notes.lines()...)
	return files{
		{"vrfs.csv", n.vrfs.Bytes()}, {"prefixes.csv", n.prefixes.Bytes()}, {"ip-ranges.csv", n.ranges.Bytes()}, {"ip-addresses.csv", n.addresses.Bytes()},
	}, nil
}

// vrf returns the VRF of a space: "" for the default space, which has no VRF in NetBox.
func vrf(space string) string {
	if space == "default" {
		return ""
	}
	return space
}

// pool writes a pool and its reservations.
func (n *netBox) pool(p *outPool) {
	what, status := "pool "+p.Metadata.Name, "active"
	if len(p.children) > 0 {
		status = "container"
	}
	status = n.status(what, p.Metadata.Labels["status"], status, "container")
	n.prefix(what, p.block, p.space, status, show.FirstOf(n.about(what, p.Spec.Description), p.Metadata.Name))
	for _, r := range p.Spec.Reservations {
		first, last := snapshot.Bounds(p.block, r)
		what, about := "a reservation of "+what, n.about("a reservation of "+what, r.Reason)
		switch {
		case first == last:
			n.addresses.Row(netip.PrefixFrom(first, first.BitLen()).String(), vrf(p.space), "reserved", "", about)
		case countable(first, last):
			bits := "/" + strconv.Itoa(p.block.Bits())
			n.ranges.Row(first.String()+bits, last.String()+bits, vrf(p.space), "reserved", about)
		default: // more addresses than NetBox can count in a range
			for _, block := range snapshot.Blocks(first, last) {
				n.prefix(what, block, p.space, "reserved", about)
			}
		}
	}
}

// countable reports whether NetBox can count a range's addresses, which it does in 32 bits.
func countable(first, last netip.Addr) bool {
	a, b := new(big.Int).SetBytes(first.AsSlice()), new(big.Int).SetBytes(last.AsSlice())
	return b.Sub(b, a).Cmp(big.NewInt(math.MaxUint32)) < 0
}

// claim writes a claim: an address, or a prefix if it has several.
func (n *netBox) claim(c outClaim) error {
	what := "claim " + c.Metadata.Name
	block, err := netip.ParsePrefix(c.Status.AllocatedCIDR)
	if err != nil {
		return err
	}
	if c.space == "" {
		n.notes.add("is omitted: its pool is in another project, and you may not read the spaces there", what)
		return nil
	}
	label, about := c.Metadata.Labels["status"], show.FirstOf(n.about(what, c.Metadata.Annotations["description"]), c.Metadata.Name)
	if block.IsSingleIP() {
		n.addresses.Row(block.String(), vrf(c.space), n.status(what, label, "active", "dhcp", "slaac"), c.Metadata.Name, about)
	} else {
		n.prefix(what, block, c.space, n.status(what, label, "active", "container"), about)
	}
	return nil
}

// prefix writes a prefix, unless NetBox would refuse it.
func (n *netBox) prefix(what string, block netip.Prefix, space, status, about string) {
	place := [2]string{space, block.String()}
	switch first := n.taken[place]; {
	case block.Bits() == 0:
		n.notes.add("is omitted: NetBox has no prefixes of length 0", what)
	case first != "":
		n.notes.add("is omitted: NetBox allows a prefix only once in a VRF, and "+first+" has it", what)
	default:
		n.taken[place] = what
		n.prefixes.Row(block.String(), vrf(space), status, about)
	}
}

// status returns NetBox' choice for the label `status` of a thing; usual is the default, and more are choices that only this model has.
func (n *netBox) status(what, label, usual string, more ...string) string {
	switch status := strings.ToLower(label); {
	case status == "" || status == "active" || status == "used": // phpIPAM uses the latter
		return usual
	case status == "reserved" || status == "deprecated" || slices.Contains(more, status):
		return status
	case status == "offline":
		return "deprecated"
	}
	n.notes.add("is exported as "+usual+": its status "+label+" does not exist in NetBox", what)
	return usual
}

// about returns a description. It removes leading characters that would make a formula: NetBox would keep the apostrophe that marks a text.
func (n *netBox) about(what, text string) string {
	text = strings.TrimSpace(text)
	if show.IsFormula(text) {
		text = strings.TrimLeft(text, "'=+-@\t\r\n ")
		n.notes.add("loses the leading characters = + - @ of its description, because a spreadsheet would treat it as a formula", what)
	}
	if utf8.RuneCountInString(text) > longestAbout {
		text = string([]rune(text)[:longestAbout])
		n.notes.add("has a description of more than 200 characters, the limit of NetBox: the rest is omitted", what)
	}
	return text
}
