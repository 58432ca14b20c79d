package export

import (
	"bytes"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// fewClaims limits the claims in a YAML plan. A larger plan is JSON with one claim a line, because JSON parses much faster.
const fewClaims = 5000

// document is an object in the form that the plan file has.
type document = map[string]any

// asPlan returns an address plan with a block for every pool and claim.
func asPlan(v *inventory) (files, error) {
	whole := document{"project": document{"name": v.project}}
	put := func(name string, list []document) {
		if list != nil {
			whole[name] = list
		}
	}
	var spaces, classes, claims []document
	for _, s := range v.spaces {
		spaces = append(spaces, s.document())
	}
	for _, c := range v.classes {
		classes = append(classes, c.document())
	}
	var roots []*outPool
	known := map[string]bool{}
	for _, p := range v.pools {
		known[p.name] = true
		if p.depth == 0 {
			roots = append(roots, p)
		}
	}
	for _, c := range v.claims { // claims by a class, and claims from a pool that is not in this plan
		if d := c.document(); c.byClass() {
			claims = append(claims, d)
		} else if !known[c.parent] {
			d["pool"] = c.parent
			claims = append(claims, d)
		}
	}
	put("spaces", spaces)
	put("classes", classes)
	put("pools", planPools(roots))
	put("claims", claims)
	text, err := show.Marshal(whole)
	if err != nil {
		return nil, err
	}
	if len(v.claims) > fewClaims {
		return files{{"", oneALine(text)}}, nil
	}
	var b bytes.Buffer
	err = (&show.Printer{To: &b, Output: show.FormatYAML}).Document(text)
	return files{{"", b.Bytes()}}, err
}

// oneALine breaks a JSON document before each object in a list.
func oneALine(doc []byte) []byte {
	var b bytes.Buffer
	inText, escaped := false, false
	for n, c := range doc {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = inText
		case c == '"':
			inText = !inText
		case c == ',' && !inText && n+1 < len(doc) && doc[n+1] == '{':
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// byClass reports whether the claim names a class. Otherwise it names a pool.
func (o object) byClass() bool { return o.spec["className"] != nil }

// planPools returns pools with all pools and claims below them.
func planPools(list []*outPool) (out []document) {
	for _, p := range list {
		d := p.document()
		if p.depth == 0 && p.space != "default" {
			d["space"] = p.space
		}
		if below := planPools(p.children); below != nil {
			d["pools"] = below
		}
		var claims []document
		for _, c := range p.claims {
			if !c.byClass() {
				claims = append(claims, c.document())
			}
		}
		if claims != nil {
			d["claims"] = claims
		}
		out = append(out, d)
	}
	return out
}

// document returns an object's fields that are not empty, without its position.
func (o object) document() document {
	d := document{"name": o.name}
	for name, value := range o.spec {
		d[name] = value
	}
	for name, value := range map[string]string{"cidr": o.cidr, "description": o.description} {
		if value != "" {
			d[name] = value
		}
	}
	for name, pairs := range map[string]map[string]string{"labels": o.labels, "annotations": o.annotations} {
		if len(pairs) > 0 {
			d[name] = pairs
		}
	}
	return d
}
