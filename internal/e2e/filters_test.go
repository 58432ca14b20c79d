package e2e

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	w := setup(t)
	labelled := func(name string, labels, spec obj) obj {
		return obj{"metadata": obj{"name": name, "labels": labels}, "spec": spec}
	}
	post := func(path string, body obj) { w.created(t, w.do(t, http.MethodPost, path, body)) }
	post("/v1/projects", obj{"metadata": obj{"name": "other", "labels": obj{"unit": "shops"}}})
	post(at("spaces"), obj{"metadata": obj{"name": "lab", "labels": obj{"env": "test"}}})
	post(at("pools"), labelled("a", obj{"env": "prod", "tier": "web"}, obj{"cidr": "10.0.0.0/16"}))
	post(at("pools"), labelled("b", obj{"env": "prod", "tier": "api"}, child("a", 24)))
	post(at("pools"), labelled("c", obj{"env": "test"}, obj{"cidr": "2001:db8::/48"}))
	post(at("pools"), labelled("d", obj{}, obj{"cidr": "10.0.0.0/8", "spaceRef": obj{"name": "lab"}}))
	post(at("pools"), labelled("e", obj{"example.com/team": "x"}, obj{"cidr": "11.0.0.0/32", "reservations": []obj{{"first": 1}}}))
	post(at("claims"), labelled("k1", obj{"env": "prod"}, obj{"poolRef": obj{"name": "a"}, "cidr": "10.0.4.0/24"}))
	post(at("claims"), labelled("k2", obj{"env": "test"}, obj{"poolRef": obj{"name": "a"}, "address": "10.0.7.7", "reclaimPolicy": "Retain"}))
	post(at("claims"), labelled("k3", obj{}, obj{"poolRef": obj{"name": "c"}, "prefixLength": 64}))
	post(at("claims"), labelled("gone", obj{}, obj{"poolRef": obj{"name": "a"}, "address": "10.0.7.8", "reclaimPolicy": "Retain"}))
	w.release(t, "gone")

	for _, tc := range []struct {
		list, query string
		want        []string
	}{
		{"/v1/projects", "labelSelector=unit=shops", []string{"other"}},
		{"/v1/projects", "labelSelector=!unit", []string{project, "platform"}},
		{at("spaces"), "labelSelector=env", []string{"lab"}},
		{at("pools"), "labelSelector=env=prod", []string{"a", "b"}},
		{at("pools"), "labelSelector=env==prod,tier!=web", []string{"b"}},
		{at("pools"), "labelSelector=env in (prod,test),tier notin (web)", []string{"b", "c"}},
		{at("pools"), "labelSelector=!env", []string{"d", "e"}},
		{at("pools"), "labelSelector=example.com/team=x", []string{"e"}},
		{at("pools"), "labelSelector=", []string{"a", "b", "c", "d", "e"}},
		{at("pools"), "phase=Exhausted", []string{"e"}},
		{at("pools"), "phase=Ready", []string{"a", "b", "c", "d"}},
		{at("pools"), "phase=Pending", nil},
		{at("pools"), "ipFamily=IPv6", []string{"c"}},
		{at("pools"), "space=lab", []string{"d"}},
		{at("pools"), "space=" + project + "/default&ipFamily=IPv4", []string{"a", "b", "e"}},
		{at("pools"), "space=other/default", nil},
		{at("pools"), "parent=a", []string{"b"}},
		{at("pools"), "parent=nowhere", nil},
		{at("pools"), "within=10.0.0.0/16", []string{"a", "b"}},
		{at("pools"), "within=10.0.0.0/8&space=lab", []string{"d"}},
		{at("pools"), "contains=10.0.255.255", []string{"a", "d"}},
		{at("pools"), "contains=2001:db8::1", []string{"c"}},
		{at("claims"), "labelSelector=env=prod", []string{"k1"}},
		{at("claims"), "phase=Bound", []string{"k1", "k2", "k3"}},
		{at("claims"), "phase=Error", nil},
		{at("claims"), "ipFamily=IPv6", []string{"k3"}},
		{at("claims"), "pool=a", []string{"k1", "k2"}},
		{at("claims"), "pool=" + project + "/a&labelSelector=env=test", []string{"k2"}},
		{at("claims"), "pool=nowhere", nil},
		{at("claims"), "pool=other/a", nil},
		{at("claims"), "within=10.0.4.0/22", []string{"k1", "k2"}},
		{at("claims"), "within=10.0.4.0/24&pool=a", []string{"k1"}},
		{at("claims"), "contains=10.0.4.9", []string{"k1"}},
		{at("claims"), "contains=10.0.4.9&pool=a", []string{"k1"}},
		{at("claims"), "contains=10.0.9.9", nil},
		{at("allocations"), "purpose=ChildPool", []string{"10.0.0.0/24"}},
		{at("allocations"), "purpose=Reservation", []string{"11.0.0.0/32"}},
		{at("allocations"), "phase=Retained", []string{"10.0.7.8/32"}},
		{at("allocations"), "purpose=Claim&ipFamily=IPv4", []string{"10.0.4.0/24", "10.0.7.7/32", "10.0.7.8/32"}},
		{at("allocations"), "pool=a&within=10.0.7.0/24", []string{"10.0.7.7/32", "10.0.7.8/32"}},
		{at("allocations"), "contains=10.0.4.200", []string{"10.0.4.0/24"}},
		{at("allocations"), "pool=c", []string{"2001:db8::/64"}},
	} {
		t.Run(tc.list+"?"+tc.query, func(t *testing.T) {
			values, err := url.ParseQuery(tc.query)
			require.NoError(t, err)
			got := decode[struct {
				Items []struct {
					Metadata struct{ Name string }
					Status   struct{ AllocatedCIDR string }
				}
			}](t, w.ok(t, w.do(t, http.MethodGet, tc.list+"?"+values.Encode(), nil)))
			var names []string
			for _, i := range got.Items {
				if tc.list == at("allocations") {
					i.Metadata.Name = i.Status.AllocatedCIDR
				}
				names = append(names, i.Metadata.Name)
			}
			require.Equal(t, tc.want, names)
		})
	}
}
