package cli

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// field is one KEY=VALUE for the command `api`. path has the member names from the outside to the inside. An empty name appends to a list.
type field struct {
	key   string
	path  []string
	value any
}

// keyRE matches a key in gh's syntax: name, name[member], name[list][].
var keyRE = regexp.MustCompile(`^([^][]+)((?:\[[^][]*\])*)$`)

// fieldsOf parses the text fields and then the typed fields.
func fieldsOf(p *session.Program, texts, values []string) (out []field, err error) {
	for i, given := range slices.Concat(texts, values) {
		key, value, has := strings.Cut(given, "=")
		m := keyRE.FindStringSubmatch(key)
		if !has || m == nil {
			return nil, exit.Usagef("%q is not a field: use KEY=VALUE, with a key like name or spec[cidr]", given)
		}
		f := field{key: key, path: []string{m[1]}, value: value}
		if m[2] != "" {
			f.path = append(f.path, strings.Split(strings.TrimSuffix(m[2][1:], "]"), "][")...)
		}
		if i >= len(texts) {
			if f.value, err = typed(p, value); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// typed returns the JSON value for a text, such as true, null or a number.
func typed(p *session.Program, text string) (any, error) {
	switch {
	case text == "true", text == "false":
		return text == "true", nil
	case text == "null":
		return nil, nil
	case strings.HasPrefix(text, "@"):
		content, err := p.Read(text[1:])
		if err != nil {
			return nil, exit.Usagef("cannot read the file: %v", err)
		}
		return string(content), nil
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return json.Number(text), nil
	}
	return text, nil
}

// bodyOf builds a document from fields.
func bodyOf(fields []field, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	var doc any
	for _, f := range fields {
		var fits bool
		if doc, fits = put(doc, f.path, f.value); !fits {
			return nil, exit.Usagef("the field %s contradicts an earlier field", f.key)
		}
	}
	return show.Marshal(doc)
}

// put sets the value at a path and creates missing members. If the path already has another value, it returns false.
func put(at any, path []string, value any) (any, bool) {
	if len(path) == 0 {
		return value, at == nil
	}
	if path[0] == "" {
		list, is := at.([]any)
		item, fits := put(nil, path[1:], value)
		return append(list, item), fits && (is || at == nil)
	}
	members, is := at.(map[string]any)
	if !is {
		members = map[string]any{}
	}
	below, fits := put(members[path[0]], path[1:], value)
	members[path[0]] = below
	return members, fits && (is || at == nil)
}

// queryOf builds a query from fields.
func queryOf(fields []field, err error) (q session.Query, _ error) {
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		text, is := f.value.(string)
		if !is {
			doc, err := show.Marshal(f.value)
			if err != nil {
				return nil, err
			}
			text = string(doc)
		}
		q = append(q, url.QueryEscape(f.key)+"="+url.QueryEscape(text))
	}
	return q, nil
}
