package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/carve-ipam/carve/client"
)

// plan is an address plan: a project, its spaces, its classes, and its pools below the pools they are carved from. The fields of
// a class and of a pool are those of the API's spec; parentRef and spaceRef are said by where a pool stands and by `space`.
type plan struct {
	Project planProject `json:"project"`
	Spaces  []planSpace `json:"spaces"`
	Classes []planClass `json:"classes"`
	Pools   []planPool  `json:"pools"`
}

type planProject struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	DisplayName string            `json:"displayName"`
	Description string            `json:"description"`
}

type planSpace struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Description string            `json:"description"`
}

type planPool struct {
	Name         string                 `json:"name"`
	Labels       map[string]string      `json:"labels"`
	Space        string                 `json:"space"` // of a root; empty is `default`
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
	Pools        []planPool             `json:"pools"` // carved from this one
}

// readPlan reads a plan and checks what can be checked without a server: a plan that fails here was not begun.
func readPlan(doc json.RawMessage) (plan, error) {
	var p plan
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("it is not an address plan: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, errors.New("it holds more than one document")
	}
	if p.Project.Name != "" && !nameRE.MatchString(p.Project.Name) {
		return p, fmt.Errorf("project %q: that is not a name", p.Project.Name)
	}
	spaces := map[string]bool{}
	for _, s := range p.Spaces {
		if !nameRE.MatchString(s.Name) || spaces[s.Name] {
			return p, fmt.Errorf("space %q: that is not a name, or it is there twice", s.Name)
		}
		spaces[s.Name] = true
	}
	if err := checkClasses(p.Classes); err != nil {
		return p, err
	}
	return p, checkPools(p.Pools, "", map[string]bool{})
}

// checkPools walks the pools of a plan; parent is empty for roots.
func checkPools(pools []planPool, parent string, seen map[string]bool) error {
	for _, p := range pools {
		switch {
		case !nameRE.MatchString(p.Name):
			return fmt.Errorf("pool %q: that is not a name", p.Name)
		case seen[p.Name]:
			return fmt.Errorf("pool %s is there twice", p.Name)
		case parent == "" && (p.CIDR == "" || p.PrefixLength != nil):
			return fmt.Errorf("pool %s is a root: it needs a cidr, and no prefixLength", p.Name)
		case parent != "" && (p.CIDR == "") == (p.PrefixLength == nil):
			return fmt.Errorf("pool %s is a child of %s: it needs either a prefixLength or a cidr", p.Name, parent)
		case parent != "" && p.Space != "":
			return fmt.Errorf("pool %s is in the space of its parent %s: it has no space of its own", p.Name, parent)
		}
		seen[p.Name] = true
		if err := checkPools(p.Pools, p.Name, seen); err != nil {
			return err
		}
	}
	return nil
}

func (p planProject) create(name string) client.ProjectCreate {
	return client.ProjectCreate{
		Metadata: client.CreateMetadata{Name: name, Labels: p.Labels},
		Spec:     &client.ProjectSpec{DisplayName: p.DisplayName, Description: p.Description},
	}
}

func (s planSpace) create() client.SpaceCreate {
	return client.SpaceCreate{
		Metadata: client.CreateMetadata{Name: s.Name, Labels: s.Labels},
		Spec:     &client.SpaceSpec{Description: s.Description},
	}
}

func (p planPool) create(parent string) client.IPPoolCreate {
	spec := client.IPPoolSpec{
		CIDR: p.CIDR, PrefixLength: p.PrefixLength, Description: p.Description, Visibility: p.Visibility,
		Allocation: p.Allocation, Reservations: p.Reservations, ClassNames: p.ClassNames, ReuseAfter: p.ReuseAfter,
		Region: p.Region, Regions: p.Regions,
	}
	switch {
	case parent != "":
		spec.ParentRef = &client.Ref{Name: parent}
	case p.Space != "":
		spec.SpaceRef = &client.Ref{Name: p.Space}
	}
	return client.IPPoolCreate{Metadata: client.CreateMetadata{Name: p.Name, Labels: p.Labels}, Spec: spec}
}
