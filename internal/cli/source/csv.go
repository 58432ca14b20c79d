package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OwnColumns lists the columns that `ipamctl export -o csv` writes.
var OwnColumns = []string{"kind", "space", "name", "parent", "block", "description", "labels", "annotations", "spec"}

// ownHeader is the first line in ipamctl's export.
var ownHeader = strings.Join(OwnColumns, ",") + "\n"

// readCSV reads CSV tables from any source. It recognizes columns by their usual names. All other columns become fields. It restores exports from
// ipamctl and from the console exactly.
func readCSV(files []File, out *Reading) error {
	for _, f := range files {
		if err := readTable(f, out); err != nil {
			return err
		}
	}
	serve(&out.Records)
	return nil
}

// readTable reads one table.
func readTable(f File, out *Reading) error {
	t, err := tableOf(f)
	if err != nil {
		return err
	}
	switch {
	case t.has("kind") && t.has("spec"):
		return out.rows(t, ownRow)
	case t.fromConsole():
		return out.rows(t, consoleRow)
	case !t.has(slices.Concat(blockColumns, hostColumns)...) && !(t.has(firstColumns...) && t.has(lastColumns...)):
		return t.nowhere(whereColumns)
	}
	places := slices.Concat(blockColumns, hostColumns, maskColumns, firstColumns, lastColumns)
	return out.table(t, places, textColumns, anyRow)
}

// These are the usual names for the columns that contain a row's address.
var (
	blockColumns = []string{"cidr", "prefix", "network", "subnet", "block", "ip_prefix", "ipv6_prefix"}
	hostColumns  = []string{"address", "ip_address", "ip", "ip_addr", "ipv6_address", "host_address"}
	maskColumns  = []string{"mask", "netmask", "prefix_length", "prefixlength", "length"}
	firstColumns = []string{"start_address", "start", "first", "from", "range_start"}
	lastColumns  = []string{"end_address", "end", "last", "to", "range_end"}
	nameColumns  = []string{"name", "hostname", "dns_name", "fqdn", "host", "host_name"}
	statusColumn = []string{"status", "state", "ip_state", "tag"}
)

// whereColumns lists these columns for messages.
var whereColumns = strings.Join(blockColumns[:4], ", ") + ", " + strings.Join(hostColumns[:2], ", ") + ", or start_address with end_address"

// textColumns lists the other known columns. The names in one group have the same meaning.
var textColumns = [][]string{nameColumns, statusColumn, {"description"}, {"space"}, {"kind", "type"}}

// anyRow reads a row from a table that Carve did not export.
func anyRow(r row) Record {
	out := r.record()
	out.Name, out.Status = r.get(nameColumns...), strings.ToLower(r.get(statusColumn...))
	if out.Domain = r.get("space"); out.Domain == "default" { // rows in the default space have no routing domain
		out.Domain = ""
		out.Fields.Set("space", "")
	}
	block, host, mask := r.only(&out, blockColumns...), r.only(&out, hostColumns...), r.only(&out, maskColumns...)
	start, end := r.only(&out, firstColumns...), r.only(&out, lastColumns...)
	switch kind := Kind(strings.ToLower(r.get("kind", "type"))); {
	case start != "" && end != "":
		out.Kind = Range
		out.span(start, end)
	case kind == Aggregate:
		out.Kind = Aggregate
		out.network(netmask(block+host, mask))
	case host != "" && (block != "" || mask == "") && kind != Prefix:
		out.Kind = Address
		out.host(host)
	case block != "" || host != "":
		out.Kind = Prefix
		if block = netmask(cmp.Or(block, host), mask); !strings.Contains(block, "/") {
			out.Kind = Address
			out.host(block)
		} else {
			out.network(block)
		}
	default:
		out.Kind, out.Problem = Reference, "it has no block and no address: the columns for these are "+whereColumns
	}
	return out
}

// ownRow reads a row from ipamctl's export.
func ownRow(r row) Record {
	out := Record{ID: r.id, Kind: Kind(r.get("kind")), Name: r.get("name")}
	own := &Own{Space: r.get("space"), Parent: r.get("parent"), Labels: map[string]string{}, Annotations: map[string]string{}}
	out.Own = own
	for pair := range strings.SplitSeq(r.get("labels"), ";") {
		if key, value, found := strings.Cut(pair, "="); found {
			own.Labels[key] = value
		}
	}
	for what, into := range map[string]any{"annotations": &own.Annotations, "spec": &own.Spec} {
		if text := r.get(what); text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				out.Problem = fmt.Sprintf("cannot read its %s: %v", what, err)
			}
		}
	}
	out.Fields.Set("description", r.fields.raw("description"))
	switch out.Kind {
	case Pool, Claim:
		out.network(r.get("block"))
	case Space, Class:
	default:
		out.Kind, out.Problem = Reference, fmt.Sprintf("%q is not a kind of Carve: use space, class, pool or claim", r.get("kind"))
	}
	return out
}
