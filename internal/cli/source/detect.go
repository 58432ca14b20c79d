package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// detectFormat describes a file's probable content for an error message.
func (f File) detectFormat() string {
	text, err := f.whole()
	if err != nil {
		return "a file that cannot be read"
	}
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return "an empty file"
	case trimmed[0] == '[':
		var list []map[string]json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil || len(list) == 0 {
			return "a JSON list that is empty or has no known objects"
		}
		return "a JSON list of objects with the members " + namesOf(list[0])
	case trimmed[0] == '{':
		var doc map[string]json.RawMessage
		if json.Unmarshal(trimmed, &doc) != nil {
			return "a JSON document"
		}
		return detectJSON(doc)
	case bytes.Contains(trimmed[:min(len(trimmed), 4096)], []byte("header-")):
		return "the CSV of Infoblox NIOS (import infoblox)"
	}
	return f.detectTable(trimmed)
}

// detectJSON does the same for a JSON object.
func detectJSON(doc map[string]json.RawMessage) string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, found := doc[name]; return found })
	}
	switch {
	case has(awsLists...):
		return "a response of AWS (import aws) without rows or without addresses"
	case has("results", "records"):
		var list []map[string]json.RawMessage
		for _, name := range []string{"results", "records"} {
			if json.Unmarshal(doc[name], &list) == nil && len(list) > 0 {
				return "a list of NetBox or Nautobot (import netbox) with " + memberOf(list[0], "url", "model")
			}
		}
		return "a list without rows, as NetBox and Nautobot return it"
	case has("items", "apiVersion"):
		return "an object of Kubernetes, of kind " + strings.Trim(string(doc["kind"]), `"`) + " (import whereabouts reads IPPools)"
	case has("pools", "claims", "spaces"):
		return "an address plan of Carve (import plan)"
	case len(doc) == 0:
		return "an empty JSON document"
	}
	return "a JSON document with the members " + namesOf(doc)
}

// memberOf returns the first named member that the object has. If it has none, memberOf returns the names of all its members.
func memberOf(object map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if value := strings.Trim(string(object[name]), `"`); value != "" {
			return name + " " + shown(value)
		}
	}
	return "the members " + namesOf(object)
}

func namesOf(doc map[string]json.RawMessage) string {
	const limit = 8
	names := slices.Sorted(maps.Keys(doc))
	if len(names) > limit {
		names = append(names[:limit], "...")
	}
	return strings.Trim(shown(strings.Join(names, ", ")), `"`)
}

// detectTable does the same for a text that is not JSON.
func (f File) detectTable(text []byte) string {
	unnamed := f
	unnamed.Columns = nil
	t, err := tableOf(unnamed)
	switch {
	case err != nil || len(t.names) < 2:
		return "no table: its first line is " + shown(string(bytes.SplitN(text, []byte("\n"), 2)[0]))
	case t.has("kind") && t.has("spec"):
		return "an export of ipamctl (import csv)"
	case t.fromConsole():
		return "an export of the console (import csv)"
	case t.has("subnet", "ip_address") && t.has("section", "master_subnet"):
		return "a table of phpIPAM (import phpipam)"
	case t.has("prefix", "ip_address", "address") && t.has("vrf", "tenant", "role"):
		return "a table of NetBox (import netbox)"
	}
	return fmt.Sprintf("a table with the titles %s", shown(strings.Join(t.titles, ", ")))
}
