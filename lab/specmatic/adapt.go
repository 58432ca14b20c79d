package specmatic

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// adapt writes a copy of the contract in which every request that Specmatic takes for valid can succeed. Answers are judged by the
// contract as it is: what is changed is in requests alone, each time with the reason.
func adapt(from, to string, things map[string]string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var doc obj
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return err
	}
	a := adaption{schemas: at(doc, "components", "schemas"), params: at(doc, "components", "parameters"), things: things}
	a.parameters()
	paths := at(doc, "paths")
	for path, item := range paths {
		a.path(path, item.(obj)) //nolint:errcheck,forcetypeassert // of our own contract; a panic says which
	}
	a.bodies()
	out, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	for _, each := range adaptations {
		_, _ = fmt.Fprintln(os.Stdout, "adapted:", each)
	}
	return os.WriteFile(to, out, 0o600)
}

// leftOut are the parameters of query and header that requests do not have.
var leftOut = []string{
	"dryRun", "cursor", "moveDefault", "labelSelector", "space", "parent", "pool", "class", "subject", "operation", "resourceKind", "resourceName", "outcome",
	"If-None-Match",
}

// adaptations say what Specmatic cannot do, or cannot know.
var adaptations = []string{
	"examples of requests and answers: left out. They name things of other installations; lab/e2e sends each of them",
	"dryRun: always true where there is one; it is added on the way to the server. Tests do not build on each other, so each finds what the ones before found; lab/conform writes",
	"If-None-Match, and If-Match of PUT: left out. What they are answered depends on what is there; lab/conform knows that",
	"names in paths: those of things that exist, idle ones for DELETE. Specmatic would make them up and get 404",
	"If-Match: always *. Specmatic knows no ETag; lab/conform sends right, stale and malformed ones",
	"PUT: one of 200 and 201. Which one is due is a matter of what exists, and Specmatic expects both",
	"references and regions in bodies: names of what exists",
	"generateName, and all but one of cidr, address, parentRef, poolRef and the like: left out. A schema does not say that they exclude each other",
	"poolPer and its companions, scope, allowedPrefixLengths: left out. They are bound to each other by rules that a schema does not say",
	"texts, keys of labels: printable ASCII. Its generator of texts does not read \\x00 in a pattern, and sends what the pattern refuses",
	"CIDRs, addresses, durations, times, counts: some that are. The patterns admit more than there is (a month 13)",
	"cursor, moveDefault: left out. One comes from an answer, the other goes with isDefault only",
	"classNames, regions, reservations, and names in a batch: left out. It does not read uniqueItems or maxItems, and makes the items of a list alike",
	"labelSelector, space, parent, pool, class and other filters that are texts: left out. A text that Specmatic changes to a number is still a text, and no error",
}

// at is what is found by descending.
func at(o obj, names ...string) obj {
	for _, name := range names {
		next, ok := o[name].(obj)
		if !ok {
			panic(fmt.Sprintf("the contract has no %s", strings.Join(names, ".")))
		}
		o = next
	}
	return o
}

type adaption struct {
	schemas, params obj
	queries         obj // schemas of parameters of the query, by name
	things          map[string]string
}

// oneOf is a schema of a few texts.
func oneOf(values ...any) obj { return obj{"type": "string", "enum": values} }

// path adapts the operations of one path.
func (a *adaption) path(path string, item obj) {
	for method, each := range item {
		op, isOperation := each.(obj)
		if !isOperation {
			continue
		}
		for status, response := range at(op, "responses") {
			if r, ok := response.(obj); ok && r["content"] != nil && strings.HasPrefix(status, "2") {
				stripExamples(r)
			}
		}
		if body, ok := op["requestBody"].(obj); ok {
			stripExamples(body)
		}
		responses := at(op, "responses")
		if method == "put" {
			if strings.HasSuffix(path, "/claims/{claim}") {
				delete(responses, "200") // a claim of this name with this very spec
			} else {
				delete(responses, "201")
			}
		}
		a.names(path, method, item, op)
	}
	delete(item, "parameters")
}

func stripExamples(o obj) {
	for _, content := range at(o, "content") {
		delete(content.(obj), "examples") //nolint:errcheck,forcetypeassert // of our own contract
	}
}

// names gives an operation its own parameters of the path, which name what exists.
func (a *adaption) names(path, method string, item, op obj) {
	shared, _ := item["parameters"].([]any)
	own, _ := op["parameters"].([]any)
	var out []any
	last := path[strings.LastIndex(path, "/")+1:]
	for _, each := range append(append([]any{}, shared...), own...) {
		p := a.resolved(each)
		name, _ := p["name"].(string)
		switch {
		case p["in"] == "path":
			value := a.things[name]
			if idle := a.things["idle:"+name]; idle != "" && method == "delete" && last == "{"+name+"}" {
				value = idle
			}
			if method == "put" && name == "claim" {
				value = "new"
			}
			p["schema"] = oneOf(value)
		case slices.Contains(leftOut, name), method == "put" && name == "If-Match":
			continue
		case name == "If-Match":
			p["schema"] = oneOf("*")
			if method == "patch" {
				p["required"] = true
			}
		}
		if schema, ok := a.queries[name].(obj); ok && p["in"] == "query" {
			p["schema"] = schema
		}
		delete(p, "example")
		out = append(out, p)
	}
	op["parameters"] = out
}

// resolved is a copy of a parameter that may be a reference.
func (a *adaption) resolved(each any) obj {
	p := each.(obj) //nolint:errcheck,forcetypeassert // of our own contract
	if ref, ok := p["$ref"].(string); ok {
		p = at(a.params, ref[strings.LastIndex(ref, "/")+1:])
	}
	return copied(p).(obj) //nolint:errcheck,forcetypeassert // a copy is what it was
}

func copied(v any) any {
	switch v := v.(type) {
	case obj:
		out := obj{}
		for name, each := range v {
			out[name] = copied(each)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, each := range v {
			out[i] = copied(each)
		}
		return out
	default:
		return v
	}
}
