package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// planClass is a class of a plan: its name, its labels, and the fields of the API's spec beside them.
type planClass struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	client.IPClassSpec
}

func (c planClass) create() client.IPClassCreate {
	return client.IPClassCreate{Metadata: client.CreateMetadata{Name: c.Name, Labels: c.Labels}, Spec: c.IPClassSpec}
}

// compare judges a class that is there.
func (c planClass) compare(got client.IPClass) differences {
	var d differences
	d.pairs("label", c.Labels, got.Metadata.Labels)
	d.field("ipFamily", string(c.IPFamily), string(got.Spec.IPFamily))
	d.field("provisioner", string(c.Provisioner), string(got.Spec.Provisioner))
	d.field("visibility", string(c.Visibility), string(got.Spec.Visibility))
	if c.IsDefault != nil {
		d.field("isDefault", strconv.FormatBool(*c.IsDefault), strconv.FormatBool(isDefault(got)))
	}
	d.field("strategy", string(c.Strategy), string(got.Spec.Strategy))
	if want, is := c.AllowedPrefixLengths, got.Spec.AllowedPrefixLengths; want != nil {
		if is == nil {
			is = &client.ClassPrefixLengths{}
		}
		d.bits("allowedPrefixLengths.min", want.Min, is.Min)
		d.bits("allowedPrefixLengths.max", want.Max, is.Max)
	}
	d.bits("defaultPrefixLength", c.DefaultPrefixLength, got.Spec.DefaultPrefixLength)
	d.field("reclaimPolicy", string(c.ReclaimPolicy), string(got.Spec.ReclaimPolicy))
	d.field("reuseAfter", sameSpan(c.ReuseAfter), sameSpan(got.Spec.ReuseAfter))
	d.field("poolSelection", string(c.PoolSelection), string(got.Spec.PoolSelection))
	d.field("poolPer", strings.Join(c.PoolPer, ","), strings.Join(got.Spec.PoolPer, ","))
	d.bits("poolPrefixLength", c.PoolPrefixLength, got.Spec.PoolPrefixLength)
	d.field("emptyPoolTTL", sameSpan(c.EmptyPoolTTL), sameSpan(got.Spec.EmptyPoolTTL))
	d.pairs("parameter", c.Parameters, got.Spec.Parameters)
	d.field("description", c.Description, got.Spec.Description)
	return d
}

// backing compares what a pool does for classes: which it lists, in whatever order, and how soon it hands out again.
func (d *differences) backing(p planPool, got client.IPPool) {
	if p.ClassNames != nil {
		want, is := slices.Sorted(slices.Values(p.ClassNames)), slices.Sorted(slices.Values(got.Spec.ClassNames))
		d.field("classNames", firstOf(strings.Join(want, ","), none), firstOf(strings.Join(is, ","), none))
	}
	d.field("reuseAfter", sameSpan(p.ReuseAfter), sameSpan(got.Spec.ReuseAfter))
}
