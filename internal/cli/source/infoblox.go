package source

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// infobloxPlace is an address in one network view.
type infobloxPlace struct {
	view    string
	address netip.Addr
}

// infobloxReading has the data that several files share.
type infobloxReading struct {
	out   *Reading
	hosts []Record // one for each address of a host; the address may also have its own row
	// listed has the host addresses that have their own rows.
	listed map[infobloxPlace]bool
	// unplaced has the indexes of such rows that name no network view.
	unplaced []int
}

// readInfoblox reads CSV from Infoblox NIOS. In such a file, a line header-TYPE defines the columns for lines with that type.
func readInfoblox(files []File, out *Reading) error {
	out.Table = true
	i := infobloxReading{out: out, listed: map[infobloxPlace]bool{}}
	for _, f := range files {
		if err := i.file(f); err != nil {
			return err
		}
	}
	i.place()
	return nil
}

// file reads one file.
func (i *infobloxReading) file(f File) error {
	headers := map[string]*[]string{}
	i.out.listFile("a table")
	l := linesOf(f)
	for {
		number, cells, err := l.next()
		if errors.Is(err, io.EOF) {
			if len(headers) == 0 {
				return fmt.Errorf("%s: it has no line such as header-network,address*,netmask*: it seems to be %s", f.Name, f.detectFormat())
			}
			return nil
		}
		if err != nil {
			return err
		}
		kind := strings.ToLower(strings.TrimSpace(cells[0]))
		if of, is := strings.CutPrefix(kind, "header-"); is {
			if at := slices.IndexFunc(cells, addressLike.MatchString); at >= 0 {
				return l.fault(at, "%s contains an address, but this line must contain the column titles", shown(cells[at]))
			}
			i.out.list("header-" + of)
			headers[of] = columns(cells)
			i.out.fill(*headers[of]...)
			i.out.titles = append(i.out.titles, *headers[of]...)
			continue
		}
		names, known := headers[kind]
		if !known {
			return fmt.Errorf("%s:%d: no earlier line header-%s names its columns", f.Name, number, strings.Trim(shown(kind), `"`))
		}
		if at := joined(cells, len(*names), headers); at > 0 {
			return l.fault(at, "two rows seem to be in one line, or the row has more cells than titles: %s", shown(cells[at]))
		}
		i.line(kind, row{at(f, number), cellsOf(names, cells)})
	}
}

// joined returns the index of a cell in which another row seems to begin. NIOS may omit cells at a row's end, but it never adds cells.
func joined(cells []string, titles int, headers map[string]*[]string) int {
	for at := 1; at < len(cells); at++ {
		cell := strings.ToLower(cells[at])
		if at >= titles && strings.TrimSpace(cell) != "" {
			return at
		}
		for kind := range headers {
			before, is := strings.CutSuffix(cell, kind)
			if !is || strings.HasSuffix(before, " ") || at+1 == len(cells) {
				continue
			}
			if _, err := hostOf(cells[at+1]); err == nil || strings.Contains(kind, "host") || strings.Contains(kind, "record") {
				return at
			}
		}
		if strings.Contains(cell, "header-") {
			return at
		}
	}
	return 0
}

func columns(titles []string) *[]string {
	names := make([]string, len(titles))
	for i, title := range titles {
		names[i] = strings.TrimPrefix(column(title), "ea_")
	}
	names[0] = "" // the first column has the type
	return &names
}

// line reads one line. For a host record, it makes a record for each address.
func (i *infobloxReading) line(kind string, r row) {
	if kind != "hostrecord" {
		out := infobloxRow(kind, r)
		if strings.HasSuffix(kind, "hostaddress") && out.Problem == "" {
			if r.get("network_view") == "" {
				i.unplaced = append(i.unplaced, i.out.Records.Len())
			} else {
				i.listed[infobloxPlace{out.Domain, out.Block.Addr()}] = true
			}
		}
		i.out.Records.add(out)
		return
	}
	texts := strings.FieldsFunc(r.get("addresses")+","+r.get("ipv6_addresses"), func(c rune) bool { return strings.ContainsRune(",; ", c) })
	for n, text := range texts {
		one := r.record()
		one.ID, one.Kind, one.Name = fmt.Sprintf("%s#%d", one.ID, n+1), Address, r.get("fqdn", "name")
		infobloxCommon(&one)
		one.set("type", "host")
		one.host(text)
		i.hosts = append(i.hosts, one)
	}
	if len(texts) == 0 {
		out := r.record()
		out.Kind, out.Name = Reference, r.get("fqdn", "name")
		out.set("model", "hostrecord")
		i.hosts = append(i.hosts, out)
	}
}

// place completes host addresses after all files are read. If a row with such an address names no view, it belongs to its host's view. If no host has
// the address, it belongs to the default view.
func (i *infobloxReading) place() {
	for _, n := range i.unplaced {
		r := i.out.Records.At(n)
		views := map[string]bool{}
		for _, h := range i.hosts {
			if h.Name == r.Name && h.Block == r.Block {
				views[h.Domain] = true
			}
		}
		if len(views) > 1 {
			r.Problem = "it names no network view, and hosts of that name have this address in several views"
			i.out.Records.set(n, r)
			continue
		}
		for view := range views {
			r.Domain = view
			r.Fields.Set("network_view", view)
		}
		i.out.Records.set(n, r)
		i.listed[infobloxPlace{r.Domain, r.Block.Addr()}] = true
	}
	for _, h := range i.hosts {
		if h.Kind == Address && h.Problem == "" && i.listed[infobloxPlace{h.Domain, h.Block.Addr()}] {
			h.Kind, h.Block = Reference, netip.Prefix{}
			h.set("model", "hostrecord")
		}
		i.out.Records.add(h)
	}
}

// infobloxRow reads a line that is not a host record.
func infobloxRow(kind string, r row) Record {
	out := r.record()
	infobloxCommon(&out)
	switch kind {
	case "networkcontainer", "ipv6networkcontainer", "network", "ipv6network":
		out.Kind = Prefix
		out.set("type", strings.TrimPrefix(kind, "ipv6"))
		out.network(netmask(r.only(&out, "address", "network"), r.only(&out, "netmask", "cidr")))
	case "fixedaddress", "ipv6fixedaddress":
		out.Kind, out.Name = Address, r.get("name")
		out.set("type", "fixedaddress")
		out.host(r.only(&out, "ip_address", "address"))
	case "hostaddress", "ipv6hostaddress":
		out.Kind, out.Name = Address, r.get("parent", "parent_fqdn", "fqdn")
		out.set("type", "host")
		out.host(r.only(&out, "address", "ip_address"))
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

// infobloxCommon copies some fields to the names that other sources use.
func infobloxCommon(out *Record) {
	out.set("description", out.Fields.Get("comment"))
	if out.Fields.Get("network_view") == "default" {
		out.Fields.Set("network_view", "")
	}
	out.Domain = out.Fields.Get("network_view")
}
