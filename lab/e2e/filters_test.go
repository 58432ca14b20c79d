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
	post(at("classes"), labelled("gold", obj{"tier": "gold"}, obj{"ipFamily": "IPv4", "defaultPrefixLength": 28, "reuseAfter": "1h"}))
	post(at("classes"), labelled("six", obj{}, obj{"ipFamily": "IPv6"}))
	post("/v1/projects/platform/classes", labelled("shared", obj{"tier": "gold"}, obj{"ipFamily": "IPv4", "visibility": "shared"}))
	post("/v1/projects/other/classes", labelled("foreign", obj{"tier": "gold"}, obj{"ipFamily": "IPv4"}))
	post(at("pools"), labelled("f", obj{"cool": "yes"}, obj{"cidr": "12.0.0.0/24", "classNames": []string{"gold", "shared"}, "allocation": obj{"strategy": "FirstFit"}}))
	post(at("claims"), labelled("k4", obj{}, obj{"className": "gold"}))
	post(at("claims"), labelled("cool", obj{}, obj{"className": "gold"}))
	w.release(t, "cool")

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
		{at("pools"), "labelSelector=!env", []string{"d", "e", "f"}},
		{at("pools"), "labelSelector=example.com/team=x", []string{"e"}},
		{at("pools"), "labelSelector=", []string{"a", "b", "c", "d", "e", "f"}},
		{at("pools"), "phase=Exhausted", []string{"e"}},
		{at("pools"), "phase=Ready", []string{"a", "b", "c", "d", "f"}},
		{at("pools"), "phase=Pending", nil},
		{at("pools"), "ipFamily=IPv6", []string{"c"}},
		{at("pools"), "space=lab", []string{"d"}},
		{at("pools"), "space=" + project + "/default&ipFamily=IPv4", []string{"a", "b", "e", "f"}},
		{at("pools"), "parent=a", []string{"b"}},
		{at("pools"), "within=10.0.0.0/16", []string{"a", "b"}},
		{at("pools"), "within=10.0.0.0/8&space=lab", []string{"d"}},
		{at("pools"), "contains=10.0.255.255", []string{"a", "d"}},
		{at("pools"), "contains=2001:db8::1", []string{"c"}},
		{at("claims"), "labelSelector=env=prod", []string{"k1"}},
		{at("claims"), "phase=Bound", []string{"k1", "k2", "k3", "k4"}},
		{at("claims"), "phase=Error", nil},
		{at("claims"), "ipFamily=IPv6", []string{"k3"}},
		{at("claims"), "pool=a", []string{"k1", "k2"}},
		{at("claims"), "pool=" + project + "/a&labelSelector=env=test", []string{"k2"}},
		{at("claims"), "within=10.0.4.0/22", []string{"k1", "k2"}},
		{at("claims"), "within=10.0.4.0/24&pool=a", []string{"k1"}},
		{at("claims"), "contains=10.0.4.9", []string{"k1"}},
		{at("claims"), "contains=10.0.4.9&pool=a", []string{"k1"}},
		{at("claims"), "contains=10.0.9.9", nil},
		{at("allocations"), "purpose=ChildPool", []string{"10.0.0.0/24"}},
		{at("allocations"), "purpose=Reservation", []string{"11.0.0.0/32"}},
		{at("allocations"), "phase=Retained", []string{"10.0.7.8/32"}},
		{at("allocations"), "purpose=Claim&ipFamily=IPv4&within=10.0.0.0/8", []string{"10.0.4.0/24", "10.0.7.7/32", "10.0.7.8/32"}},
		{at("allocations"), "pool=a&within=10.0.7.0/24", []string{"10.0.7.7/32", "10.0.7.8/32"}},
		{at("allocations"), "contains=10.0.4.200", []string{"10.0.4.0/24"}},
		{at("allocations"), "pool=c", []string{"2001:db8::/64"}},
		{at("classes"), "labelSelector=tier=gold", []string{"gold", "shared"}},
		{at("classes"), "ipFamily=IPv6", []string{"six"}},
		{at("pools"), "class=gold", []string{"f"}},
		{at("pools"), "class=shared&ipFamily=IPv4", []string{"f"}},
		{at("pools"), "class=six", nil},
		{at("claims"), "class=gold", []string{"k4"}},
		{at("claims"), "class=shared", nil},
		{at("claims"), "class=gold&pool=f&phase=Bound", []string{"k4"}},
		{at("allocations"), "class=gold", []string{"12.0.0.0/28", "12.0.0.16/28"}},
		{at("allocations"), "phase=CoolingDown", []string{"12.0.0.16/28"}},
		{at("allocations"), "class=gold&phase=Bound", []string{"12.0.0.0/28"}},
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
	for _, tc := range []struct{ list, parameter, value string }{
		{at("pools"), "space", "other/default"},
		{at("pools"), "parent", "nowhere"},
		{at("claims"), "pool", "nowhere"},
		{at("claims"), "pool", "other/a"},
		{at("pools"), "class", "foreign"},
	} {
		t.Run("RefusesAName/"+tc.parameter+"="+tc.value, func(t *testing.T) {
			a := w.do(t, http.MethodGet, tc.list+"?"+url.Values{tc.parameter: {tc.value}}.Encode(), nil)
			w.refused(t, a, "invalid_argument", "query:"+tc.parameter)
		})
	}
}
