package ipam

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// noBlock and noAddress describe a text for which no correction can be suggested.
const (
	noBlock   = "is not a CIDR such as 10.0.0.0/8 or 2001:db8::/32."
	noAddress = "is not an IP address such as 10.0.0.1 or 2001:db8::1."
)

// leadingZeros finds zeros before numbers in an IPv4 address. Some programs read such a number as octal (RFC 6943, 3.1.1).
var leadingZeros = regexp.MustCompile(`(^|\.)0+([0-9])`)

// NotABlock explains why a text is not a CIDR, and suggests a correction if possible. The result ends a sentence.
func NotABlock(text string) string {
	if p, err := netip.ParsePrefix(strings.TrimSpace(text)); err == nil && strings.TrimSpace(text) != text {
		return fmt.Sprintf("has blanks around it; write %s.", p)
	}
	host, length, found := strings.Cut(text, "/")
	if !found {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return fmt.Sprintf("is an address without a length; write %s for this address alone.", HostBlock(a.Unmap()))
		}
	}
	address, fault := parseSpelling(host)
	switch {
	case fault == "" && !address.IsValid():
		return noBlock
	case fault == "" && length == "":
		return fmt.Sprintf("has no length; write %s for the address alone.", HostBlock(address))
	}
	bits, mask := lengthOf(address, length)
	switch {
	case bits < 0 && mask:
		return "has a mask that is not a prefix length; write the length in digits, as in 10.0.0.0/24."
	case bits < 0:
		return noBlock
	case bits > address.BitLen():
		return fmt.Sprintf("has a length of more than %d bits; write %s for the address alone.", address.BitLen(), HostBlock(address))
	}
	right := netip.PrefixFrom(address, bits).Masked()
	switch {
	case fault != "":
		return fmt.Sprintf("%s; write %s.", fault, right)
	case mask:
		return fmt.Sprintf("has a mask instead of a length; write %s.", right)
	case strconv.Itoa(bits) != length:
		return fmt.Sprintf("has a length with zeros or signs before it; write %s.", right)
	}
	return noBlock
}

// NotAnAddress does the same as NotABlock for a text that should be an address.
func NotAnAddress(text string) string {
	if a, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil && a.Zone() == "" && strings.TrimSpace(text) != text {
		return fmt.Sprintf("has blanks around it; write %s.", a)
	}
	host, _, found := strings.Cut(text, "/")
	address, fault := parseSpelling(host)
	switch {
	case !address.IsValid():
		return noAddress
	case found:
		return fmt.Sprintf("has a length after the address; write %s.", address)
	case fault != "":
		return fmt.Sprintf("%s; write %s.", fault, address)
	}
	return noAddress
}

// parseSpelling parses an address, even in a spelling that requests may not use. fault describes the wrong spelling as half a sentence.
func parseSpelling(text string) (address netip.Addr, fault string) {
	if bare, zone, found := strings.Cut(text, "%"); found {
		if a, err := netip.ParseAddr(bare); err == nil && zone != "" {
			return a.Unmap(), "has a zone, which names an interface of one machine"
		}
	}
	a, err := netip.ParseAddr(text)
	if err == nil {
		return a.Unmap(), ""
	}
	if a, err := netip.ParseAddr(leadingZeros.ReplaceAllString(text, "$1$2")); err == nil && a.Is4() {
		return a, "has numbers with leading zeros, which some programs read as octal"
	}
	return netip.Addr{}, ""
}

// lengthOf parses a block's length: a number, or an IPv4 mask. It returns -1 if the text is neither.
func lengthOf(address netip.Addr, text string) (bits int, isMask bool) {
	if mask, err := netip.ParseAddr(text); err == nil && mask.Is4() && address.Is4() {
		for bits := range 33 {
			if netip.PrefixFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), bits).Masked().Addr() == mask {
				return bits, true
			}
		}
		return -1, true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1, false
	}
	return n, false
}
