package export

import (
	"bytes"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// fewClaims is the maximum number of claims in a YAML plan. A larger plan is JSON with one claim a line, because JSON parses much faster.
const fewClaims = 5000

// document is an object of a plan in the form that is written to the file.
type document = map[string]any

// asPlan returns an address plan that contains the block of every pool and claim.
func asPlan(v *inventory) (files, error) {
	whole := document{"project": document{"name": v.project}}
	put := func(name string, list []document) {
		if list != nil {
			whole[name] = list
		}
	}
	var spaces, classes, claims []document
	for _, s := range v.spaces {
		spaces = append(spaces, described(document{"name": s.Metadata.Name}, s.Spec.Description, s.Metadata.Labels, s.Metadata.Annotations))
	}
	for _, c := range v.classes {
		spec, err := snapshot.Rest(c.Spec)
		if err != nil {
			return nil, err
		}
		classes = append(classes, described(withSpec(document{"name": c.Metadata.Name}, spec), "", c.Metadata.Labels, c.Metadata.Annotations))
	}
	var roots []*outPool
	known := map[string]bool{}
	for _, p := range v.pools {
		known[p.Metadata.Name] = true
		if p.depth == 0 {
			roots = append(roots, p)
		}
	}
	for _, c := range v.claims { // claims by a class, and claims from a pool that is not in this plan
		if d := planClaim(c); c.byClass() {
			claims = append(claims, d)
		} else if !known[c.pool] {
			d["pool"] = c.pool
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

// oneALine puts each object of the lists in a JSON document on a separate line.
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
func (c outClaim) byClass() bool { return c.spec["className"] != nil }

// planPools returns pools with all pools and claims below them.
func planPools(list []*outPool) (out []document) {
	for _, p := range list {
		d := withSpec(document{"name": p.Metadata.Name, "cidr": p.Status.AllocatedCIDR}, p.spec)
		if p.depth == 0 && p.space != "default" {
			d["space"] = p.space
		}
		if below := planPools(p.children); below != nil {
			d["pools"] = below
		}
		var claims []document
		for _, c := range p.claims {
			if !c.byClass() {
				claims = append(claims, planClaim(c))
			}
		}
		if claims != nil {
			d["claims"] = claims
		}
		out = append(out, described(d, p.Spec.Description, p.Metadata.Labels, p.Metadata.Annotations))
	}
	return out
}

func planClaim(c outClaim) document {
	return described(withSpec(document{"name": c.Metadata.Name, "cidr": c.Status.AllocatedCIDR}, c.spec), "", c.Metadata.Labels, c.Metadata.Annotations)
}

// described adds the description, the labels and the annotations that are not empty.
func described(d document, description string, labels, annotations map[string]string) document {
	if description != "" {
		d["description"] = description
	}
	if len(labels) > 0 {
		d["labels"] = labels
	}
	if len(annotations) > 0 {
		d["annotations"] = annotations
	}
	return d
}

// withSpec adds the members of a spec.
func withSpec(d document, spec snapshot.Spec) document {
	for name, value := range spec {
		d[name] = value
	}
	return d
}
