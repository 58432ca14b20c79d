package source

import (
	"slices"
	"strings"
)

// These are the known columns in phpIPAM's exports.
var (
	phpipamPlaces = []string{"ip_address", "ip_addr", "ip", "subnet", "mask"}
	phpipamTexts  = synonyms(`
		hostname dns_name
		tag ip_state state
		description
		vrf
		section
		vlan
		vlan_domain domain
		customer
		device
		owner
		mac mac_address
		note
		gateway
		port
		master_subnet
		location
		nameservers
		requests
		hosts_check discover`)
)

// readPHPIPAM reads phpIPAM's CSV exports with subnets or addresses.
func readPHPIPAM(files []File, out *Reading) error {
	out.fill(slices.Concat(phpipamTexts...)...)
	for _, f := range files {
		t, err := tableOf(f)
		if err != nil {
			return err
		}
		if !t.has("ip_address", "ip_addr", "ip", "subnet") {
			return t.nowhere("Subnet (with Mask) of the export of subnets, and IP Address of the export of addresses, in English")
		}
		kind := "subnets"
		if t.has("ip_address", "ip_addr", "ip") {
			kind = "IP addresses"
		}
		out.listFile(kind)
		t.listed = true
		if err := out.table(t, phpipamPlaces, phpipamTexts, t.phpipamRow); err != nil {
			return err
		}
	}
	return nil
}

// phpipamRow reads a row. If the table has a column for addresses, each row is an address, and the column for subnets has the network that contains
// it.
func (t *table) phpipamRow(r row) Record {
	out := r.record()
	out.Status = strings.ToLower(r.get("tag", "ip_state", "state"))
	if vrf := strings.ToLower(out.Fields.Get("vrf")); vrf == "default" || vrf == "na" || vrf == "0" {
		out.Fields.Set("vrf", "")
	}
	out.Domain = out.Fields.Get("vrf")
	if vlan := out.Fields.Get("vlan"); vlan == "NA" || vlan == "0" {
		out.Fields.Set("vlan", "")
	}
	subnet := r.get("subnet")
	switch {
	case t.has("ip_address", "ip_addr", "ip"):
		out.Kind, out.Name = Address, r.get("hostname", "dns_name")
		out.host(r.only(&out, "ip_address", "ip_addr", "ip"))
	case strings.HasSuffix(subnet, "(folder)"):
		out.Kind, out.Name = Reference, subnet
	case subnet == "":
		out.Kind, out.Problem = Reference, "it has neither a subnet nor an IP address"
	default:
		out.Kind = Prefix
		out.network(netmask(subnet, r.get("mask")))
	}
	return out
}
