package source

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// vrf is a routing domain in NetBox. Its number is unique. If it has a route distinguisher, that is unique too. Several VRFs can have the same name.
type vrf struct{ id, rd, name, tenant string }

// vrfs has the routing domains that the files mention.
type vrfs struct {
	all        []*vrf
	byID, byRD map[string]*vrf
}

// displayed matches a VRF with a route distinguisher as NetBox' lists and their CSV display it.
var displayed = regexp.MustCompile(`^(.*) \((\d+(?:\.\d+\.\d+\.\d+)?:\d+)\)$`)

// add adds a VRF. If the VRF is already known, add completes its values.
func (v *vrfs) add(one vrf) {
	if v.byID == nil {
		v.byID, v.byRD = map[string]*vrf{}, map[string]*vrf{}
	}
	is := v.find(one)
	if is == nil {
		is = &vrf{}
		v.all = append(v.all, is)
	}
	is.id, is.rd = cmp.Or(is.id, one.id), cmp.Or(is.rd, one.rd)
	is.name, is.tenant = cmp.Or(is.name, one.name), cmp.Or(is.tenant, one.tenant)
	if is.id != "" {
		v.byID[is.id] = is
	}
	if is.rd != "" {
		v.byRD[is.rd] = is
	}
}

// find returns the VRF with the number or the route distinguisher. If there is none, it returns nil.
func (v *vrfs) find(one vrf) *vrf {
	if is := v.byID[one.id]; is != nil && one.id != "" {
		return is
	}
	if one.rd != "" {
		return v.byRD[one.rd]
	}
	return nil
}

// named returns the VRFs with a name.
func (v *vrfs) named(name string) (all []*vrf) {
	for _, one := range v.all {
		if one.name == name {
			all = append(all, one)
		}
	}
	return all
}

// key returns a text that identifies a VRF for people. The text is the name with the route distinguisher, as NetBox displays them. If other VRFs have
// the same name, it is the number.
func (v *vrfs) key(one *vrf) string {
	switch {
	case one.name != "" && one.rd != "":
		return one.name + " (" + one.rd + ")"
	case one.rd != "":
		return one.rd
	case one.name == "":
		return "VRF " + one.id
	case len(v.named(one.name)) > 1:
		return one.name + " (id " + one.id + ")"
	}
	return one.name
}

// resolve sets a record's VRF. The record names its VRF by number, route distinguisher or name. If the record names no VRF, resolve returns false.
func (v *vrfs) resolve(r *Record) bool {
	mention := vrf{id: r.Fields.Get("vrf.id"), rd: r.Fields.Get("vrf.rd"), name: r.Fields.Get("vrf")}
	if mention == (vrf{}) {
		return false
	}
	is := v.find(mention)
	if is == nil && mention.id == "" && mention.rd == "" {
		// NetBox' lists show a VRF only by its name if it has no route distinguisher.
		free := slices.DeleteFunc(v.named(mention.name), func(one *vrf) bool { return one.rd != "" })
		if len(free) == 0 {
			free = v.named(mention.name)
		}
		switch {
		case len(free) > 1:
			var keys []string
			for _, one := range free {
				keys = append(keys, v.key(one))
			}
			r.Problem = fmt.Sprintf("several VRFs have the name %s: %s; import the JSON of the API, which identifies the VRF", mention.name, strings.Join(keys, ", "))
			return true
		case len(free) == 1:
			is = free[0]
		}
	}
	if is == nil {
		is = &mention
		v.add(mention)
	}
	r.Fields.Set("vrf", cmp.Or(is.name, is.rd, "VRF "+is.id))
	r.Fields.Set("vrf.rd", is.rd)
	r.Fields.Set("vrf.id", is.id)
	r.Fields.Set("vrf.tenant", is.tenant)
	r.Domain = v.key(is)
	return true
}
