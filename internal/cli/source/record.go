// Package source reads what other address managers export, or what `ipamctl export` wrote, into one neutral model.
package source

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
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

// Record is one row of a source. Every row that is read is one, also a row that means nothing to Carve.
type Record struct {
	// ID finds the row again: the source's own number of it, or a file and a line.
	ID   string
	Kind Kind
	// Name is the source's name of it; it may be empty, and need not be unique.
	Name string
	// Domain identifies the routing domain of the row by the source's own key. The global domain has an empty key.
	Domain string
	// Same identifies what the row is about where a source lists one network, or one address that several devices share, in several rows.
	Same string
	// Block is valid unless the row is a range or has a problem.
	Block netip.Prefix
	// Span is the first and the last address of a range.
	Span   *Span
	Status string
	// Fields are all other values, by their names in the source.
	Fields Fields
	// Problem is why the row cannot be read.
	Problem string

	// Own is what only rows of Carve's own have.
	Own *Own
}

// Span is from one address to another.
type Span struct{ First, Last netip.Addr }

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
	// Encoding is the declared encoding of the text; nil is UTF-8.
	Encoding encoding.Encoding
	// Columns are other names of columns, by the names that are known here.
	Columns map[string]string
}

// ownFields are the fields that each row has.
var ownFields = []string{"name", "kind", "status", "id", "source-id", "routing-domain", "block", "address", "length"}

// Field is a field of a record by its name in mappings.
func (r *Record) Field(name string) string {
	switch name {
	case "name":
		return r.Name
	case "kind":
		return string(r.Kind)
	case "status":
		return r.Status
	case "id":
		return r.ID
	case "source-id":
		return r.Fields.Get("id")
	case "routing-domain":
		return r.Domain
	case "block":
		return r.Where()
	case "address":
		return r.first().String()
	case "length":
		if r.Block.IsValid() {
			return fmt.Sprint(r.Block.Bits())
		}
	}
	return r.Fields.Get(name)
}

// first is the first address of what the record is about.
func (r *Record) first() netip.Addr {
	if r.Span != nil {
		return r.Span.First
	}
	return r.Block.Addr()
}

// Where is the block, the address or the range, for people.
func (r *Record) Where() string {
	switch {
	case r.Span != nil:
		return r.Span.First.String() + "-" + r.Span.Last.String()
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
	if value = strings.TrimSpace(value); value != "" {
		r.Fields.Set(name, value)
	}
}

// network reads a network. The bits of the host must be zero: the reader does not guess which network is meant.
func (r *Record) network(text string) {
	text = strings.TrimSpace(text)
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		r.Problem = shown(text) + " is no CIDR" + hint(text)
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
		r.Problem = shown(text) + " is no address" + hint(text)
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
		r.Problem = shown(first) + " to " + shown(last) + " is no range"
	case to.Less(from):
		r.Problem = fmt.Sprintf("the range ends at %s, before it begins at %s", to, from)
	default:
		r.Span = &Span{from, to}
	}
}

// hostOf reads an address. The length of the network may stand behind it, and must be one.
func hostOf(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "/") {
		block, err := netip.ParsePrefix(text)
		return block.Addr(), err
	}
	address, err := netip.ParseAddr(text)
	if err == nil && address.Zone() != "" {
		return address, fmt.Errorf("%s has a zone", text)
	}
	return address, err
}

// octal is an IPv4 address with a number that has leading zeros.
var octal = regexp.MustCompile(`^([0-9.]*\.)?0[0-9]+(\.|$)`)

// hint explains the common reasons why a text is no address and no CIDR.
func hint(text string) string {
	address, length, found := strings.Cut(text, "/")
	_, err := netip.ParseAddr(length)
	switch {
	case strings.Contains(text, "%"):
		return ": an address with a zone means something on one machine only"
	case found && err == nil:
		return ": write the mask as a length, as /24"
	case octal.MatchString(address):
		return ": a number with leading zeros may be meant as octal"
	}
	return ""
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
