// Package source reads exports from other address managers and from ipamctl. It converts them to records that do not depend on the source.
package source

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
)

// Kind is a row's kind.
type Kind string

// The last four kinds are Carve's own. An import restores them unchanged.
const (
	Aggregate Kind = "aggregate" // a top-level block
	Prefix    Kind = "prefix"    // a network
	Address   Kind = "address"   // one address
	Range     Kind = "range"     // all addresses from one address to another
	Reference Kind = "reference" // a row about other rows, or a row without addresses
	Space     Kind = "space"
	Class     Kind = "class"
	Pool      Kind = "pool"
	Claim     Kind = "claim"
)

// Record is one row in a source. Rows without a meaning for Carve have a record too.
type Record struct {
	// ID identifies the row. It is the source's own number, or a file and a line.
	ID   string
	Kind Kind
	// Name is the name in the source. It may be empty, and several rows may have the same name.
	Name string
	// Domain identifies the routing domain by the source's own key. It is empty for the global domain.
	Domain string
	// ObjectKey is equal for all rows about the same object. A source can list one network in several rows. It can also list an address once for each
	// device that shares it.
	ObjectKey string
	// Block is not valid if the row is a range or has a problem.
	Block netip.Prefix
	// Span is set only for a range.
	Span   *Span
	Status string
	// Fields has all other values, by their names in the source.
	Fields Fields
	// Problem is the reason why the row is not valid.
	Problem string

	// Own is set only for a row in an export from ipamctl or the console.
	Own *Own
}

// Span is a range of addresses.
type Span struct{ First, Last netip.Addr }

// Own has the values that only exports from ipamctl and the console have.
type Own struct {
	Space, Parent       string
	Labels, Annotations map[string]string
	Spec                json.RawMessage
	// Serves lists the classes that a pool serves. It is set only if the source has the classes in the claims' rows, and not in the pools' rows.
	Serves []string
}

// ownFields lists the fields that every row has.
var ownFields = []string{"name", "kind", "status", "id", "source-id", "routing-domain", "block", "address", "length"}

// Field returns a field's value by the name that import mappings use.
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

// first returns a record's first address.
func (r *Record) first() netip.Addr {
	if r.Span != nil {
		return r.Span.First
	}
	return r.Block.Addr()
}

// Where returns the block, the address or the range as text.
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

// set sets a field. If the value is empty, it does nothing.
func (r *Record) set(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		r.Fields.Set(name, value)
	}
}

// network parses a network. The host bits must be zero. Otherwise the row has a problem, because the intended network is not clear.
func (r *Record) network(text string) {
	text = strings.TrimSpace(text)
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		r.Problem = shown(text) + " is not a CIDR" + hint(text)
	case block != block.Masked():
		r.Problem = fmt.Sprintf("%s has host bits: the network is %s", text, block.Masked())
	default:
		r.Block = block
	}
}

// host parses one address. A prefix length may follow the address.
func (r *Record) host(text string) {
	address, err := hostOf(text)
	if err != nil {
		r.Problem = shown(text) + " is not an address" + hint(text)
		return
	}
	r.Block = netip.PrefixFrom(address, address.BitLen())
}

// span parses a range. The range may contain only one address.
func (r *Record) span(first, last string) {
	from, err1 := hostOf(first)
	to, err2 := hostOf(last)
	switch {
	case err1 != nil || err2 != nil || from.Is4() != to.Is4():
		r.Problem = shown(first) + " to " + shown(last) + " is not a range"
	case to.Less(from):
		r.Problem = fmt.Sprintf("the range ends at %s, before its start at %s", to, from)
	default:
		r.Span = &Span{from, to}
	}
}

// hostOf parses an address. If a prefix length follows the address, the length must be valid.
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

// octal matches an IPv4 address in which a number has leading zeros.
var octal = regexp.MustCompile(`^([0-9.]*\.)?0[0-9]+(\.|$)`)

// hint explains common reasons for a text that is neither an address nor a CIDR.
func hint(text string) string {
	address, length, found := strings.Cut(text, "/")
	_, err := netip.ParseAddr(length)
	switch {
	case strings.Contains(text, "%"):
		return ": an address with a zone is valid on one machine only"
	case found && err == nil:
		return ": write the mask as a length, such as /24"
	case octal.MatchString(address):
		return ": a number with leading zeros may be octal"
	}
	return ""
}

// netmask joins an address and a mask. The mask is a number or has the dotted form.
func netmask(address, mask string) string {
	address, mask = strings.TrimSpace(address), strings.Trim(strings.TrimSpace(mask), "/")
	if mask == "" || strings.Contains(address, "/") {
		return address
	}
	if dotted, err := netip.ParseAddr(mask); err == nil && dotted.Is4() {
		ones, bits := net.IPMask(dotted.AsSlice()).Size()
		if bits == 0 {
			return address + "/" + mask // the result is no valid CIDR, so the row gets a problem
		}
		mask = fmt.Sprint(ones)
	}
	return address + "/" + mask
}
