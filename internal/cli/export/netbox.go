package export

import (
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// longestAbout is NetBox' maximum for a description, in characters.
const longestAbout = 200

// netBox collects the tables for NetBox' import. One invalid row makes NetBox refuse the whole table. Therefore each row satisfies NetBox' own checks
// (netbox/ipam/models/ip.py):
//
//   - a prefix is unique in its VRF, and its length is not 0
//   - a range has at least two addresses
//   - a status is one that the model allows
//
// If the export changes or omits a row for these checks, a note names it.
type netBox struct {
	vrfs, prefixes, ranges, addresses show.Sheet
	taken                             map[[2]string]string // maps a VRF and a block to the object that has the block in the table
	notes                             notes
}

// asNetBox returns the files for NetBox' import. They contain VRFs, prefixes, ranges and addresses.
func asNetBox(v *inventory) (files, error) {
	n := &netBox{taken: map[[2]string]string{}}
	n.vrfs.Row("name", "description")
	n.prefixes.Row("prefix", "vrf", "status", "description")
	n.ranges.Row("start_address", "end_address", "vrf", "status", "description")
	n.addresses.Row("address", "vrf", "status", "dns_name", "description")
	for _, s := range v.spaces {
		if name := vrf(s.name); name != "" {
			n.vrfs.Row(name, n.about("space "+s.name, s.description))
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

// vrf returns a space's VRF. It returns "" for the default space, which has no VRF in NetBox.
func vrf(space string) string {
	if space == "default" {
		return ""
	}
	return space
}

// pool writes a pool and its reservations.
func (n *netBox) pool(p *outPool) {
	what, status := "pool "+p.name, "active"
	if len(p.children) > 0 {
		status = "container"
	}
	status = n.status(what, p.labels["status"], status, "container")
	n.prefix(what, p.block, p.space, status, show.FirstOf(n.about(what, p.description), p.name))
	for _, r := range p.Spec.Reservations {
		first, last := converge.Bounds(p.block, r)
		what, about := "a reservation of "+what, n.about("a reservation of "+what, r.Reason)
		switch {
		case first == last:
			n.addresses.Row(netip.PrefixFrom(first, first.BitLen()).String(), vrf(p.space), "reserved", "", about)
		case countable(first, last):
			bits := "/" + strconv.Itoa(p.block.Bits())
			n.ranges.Row(first.String()+bits, last.String()+bits, vrf(p.space), "reserved", about)
		default: // NetBox cannot count so many addresses in a range
			for _, block := range converge.Blocks(first, last) {
				n.prefix(what, block, p.space, "reserved", about)
			}
		}
	}
}

// countable reports whether NetBox can count a range's addresses. NetBox counts in 32 bits.
func countable(first, last netip.Addr) bool {
	a, b := new(big.Int).SetBytes(first.AsSlice()), new(big.Int).SetBytes(last.AsSlice())
	return b.Sub(b, a).Cmp(big.NewInt(math.MaxUint32)) < 0
}

// claim writes a claim. If its block has several addresses, it is a prefix in NetBox. Otherwise it is an address.
func (n *netBox) claim(c outClaim) error {
	what := "claim " + c.name
	block, err := netip.ParsePrefix(c.cidr)
	if err != nil {
		return err
	}
	if c.space == "" {
		n.notes.add("is omitted: its pool is in another project, and you may not read the spaces there", what)
		return nil
	}
	label, about := c.labels["status"], show.FirstOf(n.about(what, c.annotations["description"]), c.name)
	if block.IsSingleIP() {
		n.addresses.Row(block.String(), vrf(c.space), n.status(what, label, "active", "dhcp", "slaac"), c.name, about)
	} else {
		n.prefix(what, block, c.space, n.status(what, label, "active", "container"), about)
	}
	return nil
}

// prefix writes a prefix. If NetBox would refuse the prefix, it writes a note instead.
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

// status converts an object's label `status` for NetBox. The parameter usual is the default, and more lists choices that only this model has.
func (n *netBox) status(what, label, usual string, more ...string) string {
	switch status := strings.ToLower(label); {
	case status == "" || status == "active" || status == "used": // phpIPAM calls this status "used"
		return usual
	case status == "reserved" || status == "deprecated" || slices.Contains(more, status):
		return status
	case status == "offline":
		return "deprecated"
	}
	n.notes.add("is exported as "+usual+": its status "+label+" does not exist in NetBox", what)
	return usual
}

// about returns a description for NetBox. It removes leading characters that would make the cell a formula. An apostrophe before the text would not
// help, because NetBox would keep it.
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
