package plan

import (
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/ipam"
)

// check validates a plan without a request, so that a faulty plan is not started. It uses the server's own checks. Only the server can check the
// state of its objects, such as whether a block is free.
func (p plan) check() planFaults {
	var f planFaults
	if p.Name != "" && !ipam.ValidName(p.Name) {
		f.add("plan", "%q is not a name: %s", p.Name, aName)
	}
	if p.Project.Name != "" && !ipam.ValidName(p.Project.Name) {
		f.add("project.name", "%q is not a name: %s", p.Project.Name, aName)
	}
	f.refused("project", ipam.ProjectSpec{DisplayName: p.Project.DisplayName, Description: p.Project.Description}.Check())
	f.refused("project", ipam.CheckLabels("/metadata/labels", p.Project.Labels))
	f.annotations("project", p.Project.Labels, p.Project.Annotations)
	seen := map[string]bool{}
	for i, s := range p.Spaces {
		at := "spaces[" + strconv.Itoa(i) + "]"
		f.name(at, s.Name, seen)
		f.refused(at, ipam.SpaceSpec{Description: s.Description}.Check())
		f.refused(at, ipam.CheckLabels("/metadata/labels", s.Labels))
		f.annotations(at, s.Labels, s.Annotations)
	}
	seen = map[string]bool{}
	for i, c := range p.Classes {
		at := "classes[" + strconv.Itoa(i) + "]"
		f.name(at, c.Name, seen)
		f.refused(at, ipam.CheckLabels("/metadata/labels", c.Labels))
		f.annotations(at, c.Labels, c.Annotations)
		f.class(at, c)
	}
	f.pools("pools", p.Pools, nil, map[string]bool{})
	seen = map[string]bool{}
	f.poolClaims("pools", p.Pools, seen)
	f.claims("claims", p.Claims, "", seen)
	return f
}

const aName = "1 to 63 lower-case letters, digits and dashes"

// name checks the name of an object. Objects of one kind must have different names.
func (f *planFaults) name(at, name string, seen map[string]bool) {
	switch {
	case name == "":
		f.add(at, "needs a name")
	case !ipam.ValidName(name):
		f.add(at+".name", "%q is not a name: %s", name, aName)
	case seen[name]:
		f.add(at+".name", "%s is used twice", name)
	}
	seen[name] = true
}

// arrayIndex matches the index of a list element in a JSON pointer.
var arrayIndex = regexp.MustCompile(`^[0-9]+$`)

// refused adds the fault that a check in package ipam found. It converts the API's JSON pointer to a position in the plan.
func (f *planFaults) refused(at string, err error) {
	e, is := errors.AsType[*ipam.Error](err)
	if !is || len(e.Fields) == 0 {
		if err != nil {
			f.add(at, "%v", err)
		}
		return
	}
	for _, field := range e.Fields {
		where := at
		for _, token := range strings.Split(field.Pointer, "/")[1:] {
			token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
			switch {
			case token == "spec" || token == "metadata":
			case arrayIndex.MatchString(token):
				where += "[" + token + "]"
			default:
				where = within(where, token)
			}
		}
		f.add(where, "%s", strings.TrimSuffix(field.Detail, "."))
	}
}

// class checks a class of the plan.
func (f *planFaults) class(at string, c planClass) {
	spec := ipam.ClassSpec{
		Provisioner: ipam.Provisioner(c.Provisioner), Family: ipam.Family(c.IPFamily), Strategy: ipam.Strategy(c.Strategy),
		DefaultPrefixLength: c.DefaultPrefixLength, ReclaimPolicy: ipam.ReclaimPolicy(c.ReclaimPolicy), Visibility: ipam.Visibility(c.Visibility),
		ReuseAfter: f.duration(at+".reuseAfter", c.ReuseAfter), PoolSelection: ipam.PoolSelection(c.PoolSelection), Parameters: c.Parameters,
		Description: c.Description, PoolPer: c.PoolPer, PoolPrefixLength: c.PoolPrefixLength, EmptyPoolTTL: f.duration(at+".emptyPoolTTL", c.EmptyPoolTTL),
	}
	if lengths := c.AllowedPrefixLengths; lengths != nil {
		spec.MinPrefixLength, spec.MaxPrefixLength = lengths.Min, lengths.Max
	}
	if c.IPFamily == "" {
		f.add(at, "needs an ipFamily: IPv4 or IPv6")
		return
	}
	f.refused(at, spec.WithDefaults().Check())
}

// contractDuration matches a duration as the contract defines it.
var contractDuration = regexp.MustCompile(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`)

// duration parses a duration in the contract's form. If there is no duration, or if it is not valid, it returns nil.
func (f *planFaults) duration(at, text string) *time.Duration {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || !contractDuration.MatchString(text) {
		f.add(at, "%q is not a duration in whole hours, minutes and seconds, such as 72h, 1h30m or 45s", text)
		return nil
	}
	return &d
}

// strategyOf returns the allocation policy and fills in the defaults.
func strategyOf(a *client.PoolAllocation) ipam.Allocating {
	if a == nil {
		return ipam.Allocating{Strategy: ipam.BestFit}
	}
	return ipam.Allocating{
		Strategy:        ipam.Strategy(show.FirstOf(string(a.Strategy), string(ipam.BestFit))),
		MinPrefixLength: a.MinPrefixLength, MaxPrefixLength: a.MaxPrefixLength, DefaultPrefixLength: a.DefaultPrefixLength,
	}
}

// blockOf parses a CIDR. If there is no CIDR, or if it is not valid, it returns the zero block.
func (f *planFaults) blockOf(at, text string) netip.Prefix {
	if text == "" {
		return netip.Prefix{}
	}
	block, err := ipam.ParseBlock("/"+lastKey(at), text)
	f.refused(at[:max(len(at)-len(lastKey(at))-1, 0)], err)
	return block
}

// addressOf parses an address. If there is no address, or if it is not valid, it returns the zero address.
func (f *planFaults) addressOf(at, text string) netip.Addr {
	if text == "" {
		return netip.Addr{}
	}
	a, err := ipam.ParseAddress("/"+lastKey(at), text)
	f.refused(at[:max(len(at)-len(lastKey(at))-1, 0)], err)
	return a
}

func lastKey(at string) string { return at[strings.LastIndexByte(at, '.')+1:] }
