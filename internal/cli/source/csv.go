package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OwnColumns are those of `ipamctl export -o csv`.
var OwnColumns = []string{"kind", "space", "name", "parent", "block", "description", "labels", "annotations", "spec"}

// CSV reads tables of anybody: the columns are known by the names that people give them, and all others become fields. What `ipamctl
// export -o csv` or the console wrote is read as it was.
func CSV(files []File) (all []Record, err error) {
	for _, f := range files {
		f.Text = asWritten(f.Text)
		rows, err := table(f)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 && !rows[0].has("kind") && !rows[0].somewhere() {
			return nil, fmt.Errorf("%s: no column says where a row is: those that do are %s", f.Name, whereColumns)
		}
		read := anyRow
		switch {
		case len(rows) == 0 || !rows[0].has("kind"):
		case rows[0].has("spec"):
			read = ownRow
		case fromConsole(rows[0]):
			read = consoleRow
		}
		for _, r := range rows {
			all = append(all, read(f, r))
		}
	}
	serve(all)
	return all, nil
}

// The names of columns that say where a row is.
var (
	blockColumns = []string{"cidr", "prefix", "network", "subnet", "block", "ip_prefix", "ipv6_prefix"}
	hostColumns  = []string{"address", "ip_address", "ip", "ip_addr", "ipv6_address", "host_address"}
	maskColumns  = []string{"mask", "netmask", "prefix_length", "prefixlength", "length"}
	firstColumns = []string{"start_address", "start", "first", "from", "range_start"}
	lastColumns  = []string{"end_address", "end", "last", "to", "range_end"}
	nameColumns  = []string{"name", "hostname", "dns_name", "fqdn", "host", "host_name"}
	statusColumn = []string{"status", "state", "ip_state", "tag"}
)

// whereColumns are those columns, for people.
var whereColumns = strings.Join(blockColumns[:4], ", ") + ", " + strings.Join(hostColumns[:2], ", ") + ", or start_address with end_address"

// somewhere reports whether a table has a column that says where its rows are.
func (r row) somewhere() bool {
	return slices.ContainsFunc(slices.Concat(blockColumns, hostColumns, firstColumns), r.has)
}

// anyRow reads a row of which nobody has said what its columns are.
func anyRow(f File, r row) Record {
	out := Record{ID: at(f, r.line), Name: r.get(nameColumns...), Status: strings.ToLower(r.get(statusColumn...))}
	r.fields(&out)
	block, host, mask := r.get(blockColumns...), r.get(hostColumns...), r.get(maskColumns...)
	switch kind := Kind(strings.ToLower(r.get("kind", "type"))); {
	case r.get(firstColumns...) != "" && r.get(lastColumns...) != "":
		out.Kind = Range
		out.span(r.get(firstColumns...), r.get(lastColumns...))
	case kind == Aggregate:
		out.Kind = Aggregate
		out.network(netmask(block+host, mask))
	case host != "" && (block != "" || mask == "") && kind != Prefix:
		out.Kind = Address
		out.host(host)
	case block != "" || host != "":
		out.Kind = Prefix
		if block == "" {
			block = host
		}
		if block = netmask(block, mask); !strings.Contains(block, "/") {
			out.Kind = Address
			out.host(block)
		} else {
			out.network(block)
		}
	default:
		out.Kind, out.Problem = Reference, "it has no block and no address: the columns that say where are "+whereColumns
	}
	return out
}

// asWritten keeps the carriage returns in cells of our own export, whose lines end without one: a reader of CSV takes that before the end of
// a line for a part of it, wherever it is.
func asWritten(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte(strings.Join(OwnColumns, ",")+"\n")) {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\r\r\n"))
}

// ownRow reads a row of our own export.
func ownRow(f File, r row) Record {
	out := Record{ID: at(f, r.line), Kind: Kind(r.get("kind")), Name: r.get("name")}
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
				out.Problem = fmt.Sprintf("its %s cannot be read: %v", what, err)
			}
		}
	}
	out.keep("description", r.raw("description"))
	switch out.Kind {
	case Pool, Claim:
		out.network(r.get("block"))
	case Space, Class:
	default:
		out.Kind, out.Problem = Reference, fmt.Sprintf("%q is no kind of Carve: there are space, class, pool and claim", r.get("kind"))
	}
	return out
}
