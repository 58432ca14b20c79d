package source

import (
	"fmt"
	"net/netip"
	"strings"
)

// Infoblox reads the CSV of Infoblox NIOS, in which a line header-TYPE says what the columns of the lines of TYPE are.
func Infoblox(files []File) (all []Record, err error) {
	for _, f := range files {
		headers := map[string][]string{}
		var hosts []row
		listed := map[netip.Prefix]bool{} // addresses of hosts that have rows of their own
		err := eachLine(f, func(number int, cells []string) error {
			kind := strings.ToLower(strings.TrimSpace(cells[0]))
			if of, is := strings.CutPrefix(kind, "header-"); is {
				headers[of] = columns(cells)
				return nil
			}
			if strings.TrimSpace(strings.Join(cells, "")) == "" {
				return nil
			}
			names, known := headers[kind]
			if !known {
				return fmt.Errorf("%s:%d: no line header-%s says what the columns are", f.Name, number, kind)
			}
			r := row{number, names, cells}
			if kind == "hostrecord" {
				hosts = append(hosts, r)
				return nil
			}
			out := infobloxRow(f, kind, r)
			listed[out.Block] = listed[out.Block] || strings.HasSuffix(kind, "hostaddress")
			all = append(all, out)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, r := range hosts {
			all = append(all, infobloxHost(f, r, listed)...)
		}
	}
	return all, nil
}

func columns(titles []string) []string {
	names := make([]string, len(titles))
	for i, title := range titles {
		names[i] = strings.TrimPrefix(column(title), "ea_")
	}
	names[0] = "" // the type
	return names
}

// infobloxRow reads one line.
func infobloxRow(f File, kind string, r row) Record {
	out := Record{ID: at(f, r.line)}
	r.fields(&out, "address", "netmask", "cidr", "ip_address", "start_address", "end_address")
	infobloxCommon(&out)
	switch kind {
	case "networkcontainer", "ipv6networkcontainer", "network", "ipv6network":
		out.Kind = Prefix
		out.set("type", strings.TrimPrefix(kind, "ipv6"))
		out.network(netmask(r.get("address", "network"), r.get("netmask", "cidr")))
	case "fixedaddress", "ipv6fixedaddress":
		out.Kind, out.Name = Address, r.get("name")
		out.set("type", "fixedaddress")
		out.host(r.get("ip_address", "address"))
	case "hostaddress", "ipv6hostaddress":
		out.Kind, out.Name = Address, r.get("parent", "parent_fqdn", "fqdn")
		out.set("type", "host")
		out.host(r.get("address", "ip_address"))
	case "dhcprange", "ipv6dhcprange":
		out.Kind, out.Name = Range, r.get("name")
		out.set("type", "dhcprange")
		out.span(r.get("start_address"), r.get("end_address"))
	default:
		out.Kind, out.Name = Reference, r.get("name", "fqdn")
		out.set("model", kind)
	}
	if strings.EqualFold(r.get("disabled"), "true") || strings.EqualFold(r.get("disable"), "true") {
		out.Status = "disabled"
	}
	return out
}

// infobloxCommon gives fields the names that other sources have for them.
func infobloxCommon(out *Record) {
	if comment, found := out.Fields["comment"]; found {
		out.Fields["description"] = comment
		delete(out.Fields, "comment")
	}
	if out.Fields["network_view"] == "default" {
		delete(out.Fields, "network_view")
	}
}

// infobloxHost reads a host record: a record for each of its addresses that is not listed by itself.
func infobloxHost(f File, r row, listed map[netip.Prefix]bool) (out []Record) {
	texts := strings.FieldsFunc(r.get("addresses")+","+r.get("ipv6_addresses"), func(c rune) bool { return strings.ContainsRune(",; ", c) })
	for i, text := range texts {
		one := Record{ID: fmt.Sprintf("%s#%d", at(f, r.line), i+1), Kind: Address, Name: r.get("fqdn", "name")}
		r.fields(&one, "addresses", "ipv6_addresses", "fqdn", "name")
		infobloxCommon(&one)
		one.set("type", "host")
		if one.host(text); !listed[one.Block] {
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		out = append(out, Record{ID: at(f, r.line), Kind: Reference, Name: r.get("fqdn", "name"), Fields: map[string]string{"model": "hostrecord"}})
	}
	return out
}
