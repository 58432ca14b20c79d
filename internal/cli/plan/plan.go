// Package plan reads and checks address plans, compares them with the server, and creates the missing objects.
package plan

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// plan is an address plan. It has a project, its spaces and classes, its pools below their parents, and claims. A class, a pool and a claim have the
// same fields as the API's spec, with two exceptions for pools. The position in the plan replaces parentRef, and `space` replaces spaceRef.
type plan struct {
	Name    string      `json:"plan"` // name of the plan that owns these objects; "" if they have no owner
	Project planProject `json:"project"`
	Spaces  []planSpace `json:"spaces"`
	Classes []planClass `json:"classes"`
	Pools   []planPool  `json:"pools"`
	Claims  []planClaim `json:"claims"`
}

// planMeta has the members that each object in a plan can have.
type planMeta struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func (m planMeta) create() client.CreateMetadata {
	return client.CreateMetadata{Name: m.Name, Labels: m.Labels, Annotations: m.Annotations}
}

type planProject struct {
	planMeta
	client.ProjectSpec
}

type planSpace struct {
	planMeta
	client.SpaceSpec
}

type planClass struct {
	planMeta
	client.IPClassSpec
}

type planPool struct {
	others []namedClaim // claims at the top level of the plan that name this pool

	planMeta
	Space        string                 `json:"space"` // of a root pool; "" means `default`
	CIDR         string                 `json:"cidr"`
	PrefixLength *int                   `json:"prefixLength"`
	Description  string                 `json:"description"`
	Visibility   client.PoolVisibility  `json:"visibility"`
	Allocation   *client.PoolAllocation `json:"allocation"`
	Reservations []client.Reservation   `json:"reservations"`
	ClassNames   []client.Name          `json:"classNames"`
	ReuseAfter   client.Duration        `json:"reuseAfter"`
	Region       client.Name            `json:"region"`
	Regions      []client.Name          `json:"regions"`
	Pools        []planPool             `json:"pools"`  // pools that are carved from this pool
	Claims       []planClaim            `json:"claims"` // claims that are served from this pool
}

type planClaim struct {
	planMeta
	Pool string `json:"pool"` // name or project/name; a short form of poolRef
	client.IPClaimSpec
}

// decoded decodes JSON for flatten and shape, which need the numbers as the file spells them.
func decoded(doc json.RawMessage) (whole any, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	err = d.Decode(&whole)
	return whole, err
}

// readPlan reads a plan file. It also returns the plan as JSON. It refuses a document with an unknown structure. Its errors name the file by its
// path.
func readPlan(path string, text []byte) (p plan, doc json.RawMessage, err error) {
	if doc, err = show.JSONOf(text); err != nil {
		return p, nil, exit.Usagef("%s: %v", path, err)
	}
	whole, err := decoded(doc)
	if err != nil {
		return p, nil, exit.Usagef("%s: it is not an address plan: %v", path, err)
	}
	top, is := whole.(object)
	if !is {
		return p, nil, exit.Usagef("%s: it is not an address plan, which is a map with project, spaces, classes and pools", path)
	}
	if isResource(top) || top["items"] != nil {
		return p, nil, exit.Usagef("%s: it is a resource or a list of the API, which does not contain its kind: write it in a plan, below `project`, `spaces`, "+
			"`classes`, `pools` or `claims`; 'ipamctl export -o plan' writes a whole project as a plan", path)
	}
	var faults planFaults
	if faults.flatten(top) {
		if doc, err = show.Marshal(whole); err != nil {
			return p, nil, err
		}
	}
	if faults.shape("", whole, reflect.TypeFor[plan]()); len(faults) > 0 {
		return p, nil, faults.in(planFiles{{path: path, lines: linesOf(text)}})
	}
	if err := json.Unmarshal(doc, &p); err != nil {
		return p, nil, exit.Usagef("%s: it is not an address plan: %v", path, err)
	}
	return p, doc, nil
}

func (p planPool) create(parent string) client.IPPoolCreate {
	spec := client.IPPoolSpec{
		CIDR: p.CIDR, Description: p.Description, Visibility: p.Visibility,
		Allocation: p.Allocation, Reservations: p.Reservations, ClassNames: p.ClassNames, ReuseAfter: p.ReuseAfter,
		Region: p.Region, Regions: p.Regions,
	}
	if p.PrefixLength != nil {
		spec.PrefixLength = *p.PrefixLength
	}
	switch {
	case parent != "":
		spec.ParentRef = &client.Ref{Name: parent}
	case p.Space != "":
		spec.SpaceRef = &client.Ref{Name: p.Space}
	}
	return client.IPPoolCreate{Metadata: p.planMeta.create(), Spec: spec}
}

func (c planClaim) create(pool string) client.IPClaimCreate {
	spec := c.IPClaimSpec
	if pool = show.FirstOf(pool, c.Pool); pool != "" {
		spec.PoolRef = verbs.ParseRef(pool)
	}
	return client.IPClaimCreate{Metadata: c.planMeta.create(), Spec: spec}
}
