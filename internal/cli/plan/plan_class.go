package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/kinds"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
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
func (c planClass) compare(got client.IPClass) verbs.Differences {
	var d verbs.Differences
	d.Pairs("label", c.Labels, got.Metadata.Labels)
	d.Field("ipFamily", string(c.IPFamily), string(got.Spec.IPFamily))
	d.Field("provisioner", string(c.Provisioner), string(got.Spec.Provisioner))
	d.Field("visibility", string(c.Visibility), string(got.Spec.Visibility))
	if c.IsDefault != nil {
		d.Field("isDefault", strconv.FormatBool(*c.IsDefault), strconv.FormatBool(kinds.IsDefault(got)))
	}
	d.Field("strategy", string(c.Strategy), string(got.Spec.Strategy))
	if want, is := c.AllowedPrefixLengths, got.Spec.AllowedPrefixLengths; want != nil {
		if is == nil {
			is = &client.ClassPrefixLengths{}
		}
		d.Bits("allowedPrefixLengths.min", want.Min, is.Min)
		d.Bits("allowedPrefixLengths.max", want.Max, is.Max)
	}
	d.Bits("defaultPrefixLength", c.DefaultPrefixLength, got.Spec.DefaultPrefixLength)
	d.Field("reclaimPolicy", string(c.ReclaimPolicy), string(got.Spec.ReclaimPolicy))
	d.Field("reuseAfter", verbs.SameSpan(c.ReuseAfter), verbs.SameSpan(got.Spec.ReuseAfter))
	d.Field("poolSelection", string(c.PoolSelection), string(got.Spec.PoolSelection))
	d.Field("poolPer", strings.Join(c.PoolPer, ","), strings.Join(got.Spec.PoolPer, ","))
	d.Bits("poolPrefixLength", c.PoolPrefixLength, got.Spec.PoolPrefixLength)
	d.Field("emptyPoolTTL", verbs.SameSpan(c.EmptyPoolTTL), verbs.SameSpan(got.Spec.EmptyPoolTTL))
	d.Pairs("parameter", c.Parameters, got.Spec.Parameters)
	d.Field("description", c.Description, got.Spec.Description)
	return d
}

// backing compares what a pool does for classes: which it lists, in whatever order, and how soon it hands out again.
func backing(d *verbs.Differences, p planPool, got client.IPPool) {
	if p.ClassNames != nil {
		want, is := slices.Sorted(slices.Values(p.ClassNames)), slices.Sorted(slices.Values(got.Spec.ClassNames))
		d.Field("classNames", show.FirstOf(strings.Join(want, ","), verbs.None), show.FirstOf(strings.Join(is, ","), verbs.None))
	}
	d.Field("reuseAfter", verbs.SameSpan(p.ReuseAfter), verbs.SameSpan(got.Spec.ReuseAfter))
}
