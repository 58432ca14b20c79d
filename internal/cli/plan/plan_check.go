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

// check validates a plan without a request, so that a faulty plan is not started. It uses the server's own checks. Only the server can check its
// state, such as whether a block is free.
func (p plan) check() planFaults {
	var f planFaults
	f.optionalName("plan", p.Name)
	f.optionalName("project.name", p.Project.Name)
	f.refused("project", ipam.ProjectSpec{DisplayName: p.Project.DisplayName, Description: p.Project.Description}.Check())
	f.pairs("project", p.Project.planMeta)
	seen := map[string]bool{}
	for i, s := range p.Spaces {
		at := "spaces[" + strconv.Itoa(i) + "]"
		f.name(at, s.Name, seen)
		f.refused(at, ipam.SpaceSpec{Description: s.Description}.Check())
		f.pairs(at, s.planMeta)
	}
	seen = map[string]bool{}
	for i, c := range p.Classes {
		at := "classes[" + strconv.Itoa(i) + "]"
		f.name(at, c.Name, seen)
		f.pairs(at, c.planMeta)
		f.class(at, c)
	}
	p.assign(p.Pools)
	f.pools("pools", p.Pools, nil, map[string]bool{})
	seen = map[string]bool{}
	f.poolClaims("pools", p.Pools, seen)
	f.claims("claims", p.Claims, "", seen)
	return f
}

// optionalName checks a name that a plan can omit.
func (f *planFaults) optionalName(at, name string) {
	if name != "" && !ipam.ValidName(name) {
		f.add(at, "%q is not a name: %s", name, aName)
	}
}

const aName = "1 to 63 lower-case letters, digits and dashes"

// name checks an object's name. Two objects with the same kind must have different names.
func (f *planFaults) name(at, name string, seen map[string]bool) {
	switch {
	case name == "":
		f.add(at, "needs a name")
	case seen[name] && ipam.ValidName(name):
		f.add(at+".name", "%s is used twice", name)
	}
	f.optionalName(at+".name", name)
	seen[name] = true
}

// arrayIndex matches a list element's index in a JSON pointer.
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
			token = unescape.Replace(token)
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

// refusedAs works like the function refused, and also replaces a phrase in the fault's sentence.
func (f *planFaults) refusedAs(at string, err error, old, replacement string) {
	before := len(*f)
	f.refused(at, err)
	for n := range (*f)[before:] {
		why := &(*f)[before+n].why
		*why = strings.Replace(*why, old, replacement, 1)
	}
}

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

// blockOf and addressOf parse a field. If the field is absent or not valid, they return the zero value.
func (f *planFaults) blockOf(at, field, text string) netip.Prefix {
	return parsed(f, at, field, text, ipam.ParseBlock)
}

func (f *planFaults) addressOf(at, field, text string) netip.Addr {
	return parsed(f, at, field, text, ipam.ParseAddress)
}

func parsed[T any](f *planFaults, at, field, text string, parse func(pointer, text string) (T, error)) (value T) {
	if text == "" {
		return value
	}
	value, err := parse("/"+field, text)
	f.refused(at, err)
	return value
}
