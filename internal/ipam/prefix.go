package ipam

import (
	"net/netip"
)

// Family is an IP version.
type Family string

// The two families, as in the API.
const (
	IPv4 Family = "IPv4"
	IPv6 Family = "IPv6"
)

// FamilyOf returns an address's family.
func FamilyOf(a netip.Addr) Family {
	if a.Is4() {
		return IPv4
	}
	return IPv6
}

// Bits returns a host address's prefix length, 32 or 128.
func (f Family) Bits() int {
	if f == IPv4 {
		return 32
	}
	return 128
}

// Everything returns the whole address family, 0.0.0.0/0 or ::/0.
func (f Family) Everything() netip.Prefix {
	if f == IPv4 {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

// mapped is the block with the IPv4-mapped IPv6 addresses. No request can name a block in it, because requests use the IPv4 form.
var mapped = netip.MustParsePrefix("::ffff:0:0/96")

// CheckPoolBlock refuses a pool's block if it contains IPv4-mapped addresses, because no request can name them.
func CheckPoolBlock(pointer string, block netip.Prefix) error {
	if !block.Overlaps(mapped) {
		return nil
	}
	return Invalid(pointer, "is %s and contains the IPv4-mapped addresses ::ffff:0:0/96, which requests cannot name. Use a block without them, such as 2000::/3 or fc00::/7.", block)
}

// ParseBlock parses an aligned CIDR. It refuses host bits, zones, IPv4-mapped IPv6 and missing lengths, with a message that suggests a correction.
// pointer is the JSON pointer to the field.
func ParseBlock(pointer, s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, Invalid(pointer, "%s", NotABlock(s))
	}
	if p.Addr().Is4In6() && p.Bits() >= mapped.Bits() {
		four := netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped.Bits())
		return netip.Prefix{}, Invalid(pointer, "is an IPv4-mapped IPv6 block; write it as IPv4: %s.", four.Masked())
	}
	if p.Addr().Is4In6() {
		return netip.Prefix{}, Invalid(pointer, "contains IPv4-mapped addresses, ::ffff:0:0/96, which requests cannot name; write the IPv4 block, such as %s/8.", netip.PrefixFrom(p.Addr().Unmap(), 8).Masked().Addr())
	}
	if p.Masked() != p {
		return netip.Prefix{}, Invalid(pointer, "has host bits set; did you mean %s?", p.Masked())
	}
	return p, nil
}

// ParseAddress parses one host address. It refuses zones and IPv4-mapped IPv6.
func ParseAddress(pointer, s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, Invalid(pointer, "%s", NotAnAddress(s))
	}
	if a.Is4In6() {
		return netip.Addr{}, Invalid(pointer, "is an IPv4-mapped IPv6 address; write it as IPv4: %s.", a.Unmap())
	}
	return a, nil
}

// HostBlock returns an address's /32 or /128.
func HostBlock(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }
