// Package plan reads and checks address plans, compares them with the server, and creates the missing objects.
package plan

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// plan is an address plan. It has a project, its spaces and classes, its pools below their parents, and claims. A class, a pool and a claim have the
// fields of the API's spec, with two exceptions for pools. The position of a pool in the plan replaces parentRef, and `space` replaces spaceRef.
type plan struct {
	Name    string      `json:"plan"` // name of the plan that owns these objects; "" if they have no owner
	Project planProject `json:"project"`
	Spaces  []planSpace `json:"spaces"`
	Classes []planClass `json:"classes"`
	Pools   []planPool  `json:"pools"`
	Claims  []planClaim `json:"claims"`
}

type planProject struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	DisplayName string            `json:"displayName"`
	Description string            `json:"description"`
}

type planSpace struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Description string            `json:"description"`
}

type planPool struct {
	Name         string                 `json:"name"`
	Labels       map[string]string      `json:"labels"`
	Annotations  map[string]string      `json:"annotations"`
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

// readPlan reads a plan file. It also returns the plan as JSON. It refuses a document with an unknown structure. Its errors name the file by its
// path.
func readPlan(path string, text []byte) (p plan, doc json.RawMessage, err error) {
	if doc, err = show.JSONOf(text); err != nil {
		return p, nil, exit.Usagef("%s: %v", path, err)
	}
	var whole any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
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

func (p planProject) create(name string) client.ProjectCreate {
	return client.ProjectCreate{
		Metadata: client.CreateMetadata{Name: name, Labels: p.Labels, Annotations: p.Annotations},
		Spec:     &client.ProjectSpec{DisplayName: p.DisplayName, Description: p.Description},
	}
}

func (s planSpace) create() client.SpaceCreate {
	return client.SpaceCreate{
		Metadata: client.CreateMetadata{Name: s.Name, Labels: s.Labels, Annotations: s.Annotations},
		Spec:     &client.SpaceSpec{Description: s.Description},
	}
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
	return client.IPPoolCreate{Metadata: client.CreateMetadata{Name: p.Name, Labels: p.Labels, Annotations: p.Annotations}, Spec: spec}
}
