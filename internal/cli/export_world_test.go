package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxPools is the maximum number of child pools in a world. Each pool costs a request here and in every import.
const maxPools = 6

// fields is a document, or a part of one.
type fields = map[string]any

// world creates a random project through the API. It does not use an import, because the test compares the project with an import.
type world struct {
	*rand.Rand
	t       *testing.T
	d       *double
	project string
	names   []string // unusual names that are not used yet
	count   int
	pools   int
	classes map[bool][]string // the key is true for IPv6 classes
	space   map[string]string // the space of the pools that list the class
	at      string            // the space that is filled now
	later   []fields          // claims that have only a prefix length, created last because the server chooses their blocks
}

// ask sends a request to the server and returns the response.
func (d *double) ask(t *testing.T, method, path string, doc any) (answer fields) {
	t.Helper()
	var body []byte
	if doc != nil {
		var err error
		body, err = json.Marshal(doc)
		require.NoError(t, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, d.env["CARVE_SERVER"]+path, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Less(t, response.StatusCode, 300, "%s %s %s: %s", method, path, body, text)
	require.NoError(t, json.Unmarshal(text, &answer))
	return answer
}

// fill creates a project with all kinds of values that an export can contain.
func (w *world) fill() {
	w.names = []string{"null", "true", "no", "on", "1e3", "0x1f", "0123", "12", "2026-01-01", "10-0-9-0", strings.Repeat("n", 63), "y"}
	w.Shuffle(len(w.names), func(i, j int) { w.names[i], w.names[j] = w.names[j], w.names[i] })
	w.d.ask(w.t, http.MethodPost, "/v1/projects", fields{"metadata": fields{"name": w.project}})
	w.classes, w.space = map[bool][]string{}, map[string]string{}
	for n := range 3 {
		w.class(n%2 == 1)
	}
	for n := range 1 + w.IntN(3) {
		w.at = "default"
		if n > 0 {
			w.at = nameOf(w.make("spaces", fields{"description": w.text()}))
		}
		for _, block := range []string{"10.0.0.0/16", "10.1.0.0/17", "172.16.0.0/24", "2001:db8::/48", "2001:db8:ff::/120"} {
			if w.IntN(2) > 0 || n == 0 && block == "10.0.0.0/16" {
				w.pool(fields{"spaceRef": fields{"name": w.at}}, netip.MustParsePrefix(block), 0)
			}
		}
	}
	w.claims(w.later)
}

// make creates an object with an unused name, labels and annotations.
func (w *world) make(collection string, spec fields) fields {
	return w.d.ask(w.t, http.MethodPost, "/v1/projects/"+w.project+"/"+collection, fields{"metadata": w.metadata(), "spec": spec})
}

func (w *world) metadata() fields {
	w.count++
	name := fmt.Sprintf("n-%d", w.count)
	if len(w.names) > 0 && w.IntN(4) == 0 {
		name, w.names = w.names[0], w.names[1:]
	}
	labels, annotations := map[string]string{}, map[string]string{}
	for range w.IntN(4) {
		labels[w.one("env", "example.com/Team", "a.b_c-d", "0", "null")] = w.one("", "prod", "0123", "1e3", "true", "no", "null", "1_000", "2026-01-01", "A.b_c-D", "12.50")
	}
	for range w.IntN(4) {
		annotations[w.one("note", "example.com/ticket", "yes", "description", "1")] = w.text()
	}
	return fields{"name": name, "labels": labels, "annotations": annotations}
}

func (w *world) one(of ...string) string { return of[w.IntN(len(of))] }

// text returns a random text that the contract allows.
func (w *world) text() string {
	if w.IntN(12) == 0 {
		return w.one(" ", "\n", "\u00a0\t")
	}
	var b strings.Builder
	for range w.IntN(5) {
		b.WriteString(w.one("a", "word", " ", "  ", "\n", "\r\n", "\r", "\t", ",", ";", `"`, `""`, "'", `\`, `\n`, "=1+1", "@x", "-", "- a", "#c", " # c", "a: b", "{a}", "[", "|", ">", "&a", "*a",
			"!t", "%", "`", "${x}", "ä", "日本", "👩‍💻", "é", "\u00a0", "\u2028", "\u2029", "\u200b", "\ufeff", "\ufffd", "\u202e", "~", "null", "yes", "0x1", "1e3", "<<", "</script>", "a—b", "?", "---"))
	}
	return b.String()
}

// line returns a random text in one line.
func (w *world) line() string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(w.text())
}

func (w *world) class(six bool) {
	bits, family := 32, "IPv4"
	if six {
		bits, family = 128, "IPv6"
	}
	spec := fields{"ipFamily": family, "description": w.text(), "isDefault": len(w.classes[six]) == 0 && w.IntN(2) == 0}
	w.some(spec, "strategy", w.one("FirstFit", "BestFit", "Random", "Sparse"))
	w.some(spec, "reclaimPolicy", w.one("Delete", "Retain"))
	w.some(spec, "reuseAfter", w.one("10m", "0s", "1h30m"))
	w.some(spec, "poolSelection", w.one("FirstFit", "LeastUtilized"))
	w.some(spec, "allowedPrefixLengths", fields{"min": bits - 20, "max": bits})
	w.some(spec, "defaultPrefixLength", bits-w.IntN(3))
	w.some(spec, "parameters", fields{"example.com/tier": w.line(), "x": ""})
	w.classes[six] = append(w.classes[six], nameOf(w.make("classes", spec)))
}

func nameOf(made fields) string { return fmt.Sprint(member(made, "metadata.name")) }

// listed returns the classes that a pool lists. All pools of a class are in one space here. TestClaimIsImportedIntoItsOriginalSpace covers the other
// case.
func (w *world) listed(six bool) (all []string) {
	for _, class := range w.classes[six] {
		if w.IntN(2) == 0 && (w.space[class] == "" || w.space[class] == w.at) {
			w.space[class] = w.at
			all = append(all, class)
		}
	}
	return all
}

// some sets a field with a probability of one third.
func (w *world) some(spec fields, name string, value any) {
	if w.IntN(3) == 0 {
		spec[name] = value
	}
}

// pool creates a pool. Each sixteenth of its block becomes a child pool, a claim or a reservation, or stays free.
func (w *world) pool(spec fields, block netip.Prefix, depth int) {
	six, bits := block.Addr().Is6(), block.Addr().BitLen()
	spec["cidr"], spec["description"] = block.String(), w.text()
	w.some(spec, "visibility", "shared")
	w.some(spec, "reuseAfter", w.one("10m", "72h"))
	w.some(spec, "allocation", fields{"strategy": w.one("FirstFit", "BestFit", "Random", "Sparse")})
	w.some(spec, "allocation", fields{"strategy": "BestFit", "minPrefixLength": block.Bits() + 1, "maxPrefixLength": bits, "defaultPrefixLength": bits - w.IntN(3)})
	if classes := w.listed(six); classes != nil {
		spec["classNames"] = classes
	}
	var reservations, claims []fields
	var pools []netip.Prefix
	for n := range 16 {
		part := sixteenth(block, n)
		switch kind := w.IntN(12); {
		case n == 0:
			w.reserve(&reservations, fields{"first": 1 + w.IntN(8)})
		case n == 15:
			w.reserve(&reservations, fields{"last": 1 + w.IntN(8)})
		case kind == 0:
			w.reserve(&reservations, fields{"cidr": part.String()})
		case kind == 1:
			w.reserve(&reservations, fields{"from": part.Addr().String(), "to": sixteenth(part, w.IntN(16)).Addr().String()})
		case kind < 4 && depth < 2 && part.Bits() < bits-4 && len(pools) < 2 && w.pools < maxPools:
			w.pools++
			pools = append(pools, part)
		case kind == 4:
			claims = append(claims, w.claim(fields{"cidr": part.String()}))
		case kind == 5:
			claims = append(claims, w.claim(fields{"address": part.Addr().String()}))
		}
	}
	if reservations != nil {
		spec["reservations"] = reservations
	}
	name := nameOf(w.make("pools", spec))
	for _, part := range pools {
		w.pool(fields{"parentRef": fields{"name": name}}, part, depth+1)
	}
	for _, c := range claims {
		c["spec"].(fields)["poolRef"] = fields{"name": name} //nolint:forcetypeassert // it was made so
	}
	w.claims(claims)
	for range w.IntN(3) {
		w.later = append(w.later, w.claim(fields{"prefixLength": bits - w.IntN(3), "poolRef": fields{"name": name}}))
	}
	if classes, listed := spec["classNames"].([]string); listed {
		w.later = append(w.later, w.claim(fields{"prefixLength": bits - w.IntN(2), "className": classes[0]}))
	}
}

// reserve adds a reservation. It sets the reason in half of the cases.
func (w *world) reserve(all *[]fields, r fields) {
	if w.IntN(2) == 0 {
		r["reason"] = w.line()
		*all = append(*all, r)
	}
}

func (w *world) claim(spec fields) fields {
	w.some(spec, "reclaimPolicy", w.one("Delete", "Retain"))
	w.some(spec, "ownerRef", fields{"kind": "VM", "name": w.line(), "uid": w.one("u-1", "0123")})
	w.some(spec, "maxConsumers", 2)
	w.some(spec, "whenUnused", "Delete")
	return fields{"metadata": w.metadata(), "spec": spec}
}

func (w *world) claims(all []fields) {
	if len(all) > 0 {
		w.d.ask(w.t, http.MethodPost, "/v1/projects/"+w.project+"/claim-batches", fields{"claims": all})
	}
}

// sixteenth returns one of the sixteen parts of a block, or one of its addresses.
func sixteenth(block netip.Prefix, n int) netip.Prefix {
	bits := min(block.Bits()+4, block.Addr().BitLen())
	bytes := block.Addr().AsSlice()
	at := n % (1 << (bits - block.Bits())) << ((8 - bits%8) % 8)
	bytes[(bits-1)/8] |= byte(at & 255)
	if over := at >> 8; over > 0 {
		bytes[(bits-1)/8-1] |= byte(over)
	}
	address, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(address, bits)
}
