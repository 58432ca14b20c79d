package provider

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// mostListed limits the objects in a list by default.
const mostListed = 10_000

var maxItemsField = field{
	name: "max_items", form: number, at: "-", check: between(1, 100_000),
	about: "Maximum number of objects in the list, " + strconv.Itoa(mostListed) + " by default. A list with more objects is refused, not cut off.",
}

// plural returns the data source's name. The attribute that contains the objects has the same name.
func (k kind) plural() string {
	if strings.HasSuffix(k.name, "s") {
		return k.name + "es"
	}
	return k.name + "s"
}

// objects returns the plural as messages write it.
func (k kind) objects() string { return strings.ReplaceAll(k.plural(), "_", " ") }

// own returns the name of the last key. Only this key differs between the objects in one list.
func (k kind) own() string {
	keys := k.keys()
	return keys[len(keys)-1].name
}

// listPath returns the list's path with its filters in the query.
func (k kind) listPath(config values) string {
	query := url.Values{"limit": {"500"}}
	for _, f := range k.filters {
		switch v := config[f.name].(type) {
		case string:
			query.Set(camel(f.name), v)
		case bool:
			query.Set(camel(f.name), strconv.FormatBool(v))
		}
	}
	return collection(k.at(config)) + "?" + query.Encode()
}

// item returns one listed object's state.
func (k kind) item(d document, config values) values {
	keys := values{}
	for _, f := range k.keys() {
		switch keys[f.name] = config[f.name]; {
		case f.from != "":
			keys[f.name] = d.text(f.from)
		case f.name == k.own():
			keys[f.name] = d.text("/metadata/name")
		}
	}
	return k.state(d, keys, k.data())
}

// listData returns the data source that lists a kind's objects. Its inputs are the keys in the list's path, the API's filters, and max_items.
func listData(k kind) *dataSource {
	inputs := slices.DeleteFunc(k.keys(), func(f field) bool { return f.name == k.own() || f.from != "" })
	return &dataSource{
		kind: k, typeName: k.plural(), summary: "Lists all " + k.objects() + " that match the filters. " + k.definition(), rule: k.choice, read: k.list,
		inputs:  append(append(inputs, k.filters...), maxItemsField),
		outputs: []field{{name: k.plural(), form: objects, fields: k.data(), about: "The objects, in the API's order."}},
	}
}

// list reads all pages.
func (k kind) list(ctx context.Context, a *api, config values) (values, error) {
	most := int64(mostListed)
	if n, given := config[maxItemsField.name].(int64); given {
		most = n
	}
	items := []any{}
	for d, err := range a.list(ctx, k.listPath(config)) {
		if err != nil {
			return nil, err
		}
		if int64(len(items)) == most {
			return nil, k.tooMany(most)
		}
		items = append(items, map[string]any(k.item(d, config)))
	}
	config[k.plural()] = items
	return config, nil
}

func (k kind) tooMany(most int64) error {
	remedy := "Raise max_items."
	if len(k.filters) > 0 {
		remedy = "Use a filter (" + strings.Join(names(k.filters), ", ") + "), or raise max_items."
	}
	return &ownError{
		title: "The list is too long", attribute: maxItemsField.name,
		text: fmt.Sprintf("More than %d %s match, so the list would be incomplete. %s", most, k.objects(), remedy),
	}
}
