// Package source reads what other address managers export, or what `ipamctl export` wrote, into one neutral model.
package source

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// Kind is what a row of a source is about.
type Kind string

// The kinds. The last four are Carve's own, which are taken as they are.
const (
	Aggregate Kind = "aggregate" // a block at the top
	Prefix    Kind = "prefix"    // a network
	Address   Kind = "address"   // one address
	Range     Kind = "range"     // from one address to another
	Reference Kind = "reference" // a row that says something about others, or nothing about addresses
	Space     Kind = "space"
	Class     Kind = "class"
	Pool      Kind = "pool"
	Claim     Kind = "claim"
)

// Record is one row of a source. Every row that is read is one, also those that mean nothing to Carve.
type Record struct {
	// ID finds the row again: the source's own number of it, or a file and a line.
	ID   string
	Kind Kind
	// Name is what the source calls it; it may be empty, and need not be unique.
	Name string
	// Block is valid unless it is a range, or there is a problem.
	Block       netip.Prefix
	First, Last netip.Addr // of a range
	Status      string
	// Fields are all others, by their names in the source.
	Fields map[string]string
	// Problem is why the row cannot be read.
	Problem string

	// Own is what a row of Carve's own has.
	Own *Own
}

// Own is what only rows of Carve's own exports have.
type Own struct {
	Space, Parent       string
	Labels, Annotations map[string]string
	Spec                json.RawMessage
	// Serves are the classes of a pool, where its row does not say them and those of what is in it do.
	Serves []string
}

// File is one input, read whole.
type File struct {
	Name string // as it was given; said of rows
	Text []byte
	// Columns are other names of columns, by the names that are known here.
	Columns map[string]string
}

// Reader reads files of one source. Rows that make no sense have a problem; an error is about a whole file.
type Reader func(files []File) ([]Record, error)

// Readers are the sources by the names that people type.
var Readers = map[string]Reader{
	"netbox": NetBox, "csv": CSV, "phpipam": PHPIPAM, "infoblox": Infoblox, "aws": AWS, "whereabouts": Whereabouts, "plan": Plan,
}

// Field is a field of a record by its name in mappings.
func (r Record) Field(name string) string {
	switch name {
	case "name":
		return r.Name
	case "kind":
		return string(r.Kind)
	case "status":
		return r.Status
	case "id":
		return r.ID
	case "block":
		return r.Where()
	case "address":
		return r.first().String()
	case "length":
		if r.Block.IsValid() {
			return fmt.Sprint(r.Block.Bits())
		}
	}
	return r.Fields[name]
}

// first is the first address of what the record is about.
func (r Record) first() netip.Addr {
	if r.First.IsValid() {
		return r.First
	}
	return r.Block.Addr()
}

// Where is the block, the address or the range, for people.
func (r Record) Where() string {
	switch {
	case r.First.IsValid():
		return r.First.String() + "-" + r.Last.String()
	case !r.Block.IsValid():
		return ""
	case r.Block.IsSingleIP():
		return r.Block.Addr().String()
	default:
		return r.Block.String()
	}
}

// set notes a field that is not empty.
func (r *Record) set(name, value string) {
	r.keep(name, strings.TrimSpace(value))
}

// keep notes a field as it is, with the blanks around it, unless it is empty.
func (r *Record) keep(name, value string) {
	if value == "" {
		return
	}
	if r.Fields == nil {
		r.Fields = map[string]string{}
	}
	r.Fields[name] = value
}

// network reads a network. Bits of the host must be zero: what is not a network is not guessed at.
func (r *Record) network(text string) {
	text = strings.TrimSpace(text)
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		r.Problem = fmt.Sprintf("%q is no CIDR", text)
	case block != block.Masked():
		r.Problem = fmt.Sprintf("%s has bits of a host: the network is %s", text, block.Masked())
	default:
		r.Block = block
	}
}

// host reads one address, with or without the length of the network around it.
func (r *Record) host(text string) {
	address, err := hostOf(text)
	if err != nil {
		r.Problem = fmt.Sprintf("%q is no address", strings.TrimSpace(text))
		return
	}
	r.Block = netip.PrefixFrom(address, address.BitLen())
}

// span reads a range. One that is a single address is that address.
func (r *Record) span(first, last string) {
	from, err1 := hostOf(first)
	to, err2 := hostOf(last)
	switch {
	case err1 != nil || err2 != nil || from.Is4() != to.Is4():
		r.Problem = fmt.Sprintf("%q to %q is no range", first, last)
	case to.Less(from):
		r.Problem = fmt.Sprintf("the range ends at %s, before it begins at %s", to, from)
	default:
		r.First, r.Last = from, to
	}
}

func hostOf(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if before, _, found := strings.Cut(text, "/"); found {
		text = before
	}
	address, err := netip.ParseAddr(text)
	if err == nil && address.Zone() != "" {
		return address, fmt.Errorf("%s has a zone", text)
	}
	return address, err
}

// netmask joins an address and a mask, dotted or a number.
func netmask(address, mask string) string {
	address, mask = strings.TrimSpace(address), strings.Trim(strings.TrimSpace(mask), "/")
	if mask == "" || strings.Contains(address, "/") {
		return address
	}
	if dotted, err := netip.ParseAddr(mask); err == nil && dotted.Is4() {
		ones, rest := 0, dotted.As4()
		bits := uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8 | uint32(rest[3])
		for ; bits&(1<<31) != 0; bits <<= 1 {
			ones++
		}
		if bits != 0 {
			return address + "/" + mask // which is no CIDR
		}
		mask = fmt.Sprint(ones)
	}
	return address + "/" + mask
}
