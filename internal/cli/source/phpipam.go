package source

import (
	"strings"
)

// PHPIPAM reads the exports of phpIPAM, saved as CSV: its subnets, and its addresses.
func PHPIPAM(files []File) (all []Record, err error) {
	for _, f := range files {
		rows, err := table(f)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			all = append(all, phpipamRow(f, r))
		}
	}
	return all, nil
}

func phpipamRow(f File, r row) Record {
	out := Record{ID: at(f, r.line), Status: strings.ToLower(r.get("tag", "ip_state", "state"))}
	r.fields(&out, "ip_address", "ip_addr", "subnet", "mask", "hostname", "dns_name", "tag", "ip_state", "state")
	if vrf := strings.ToLower(out.Fields["vrf"]); vrf == "default" || vrf == "na" || vrf == "0" {
		delete(out.Fields, "vrf")
	}
	if out.Fields["vlan"] == "NA" || out.Fields["vlan"] == "0" {
		delete(out.Fields, "vlan")
	}
	if host := r.get("ip_address", "ip_addr"); host != "" {
		out.Kind, out.Name = Address, r.get("hostname", "dns_name")
		out.set("subnet", r.get("subnet"))
		out.host(host)
		return out
	}
	subnet := r.get("subnet")
	if strings.HasSuffix(subnet, "(folder)") {
		out.Kind, out.Name = Reference, subnet
		return out
	}
	if subnet == "" {
		out.Kind, out.Problem = Reference, "it has neither a subnet nor an IP address"
		return out
	}
	out.Kind = Prefix
	out.network(netmask(subnet, r.get("mask")))
	return out
}
