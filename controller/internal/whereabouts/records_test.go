package whereabouts_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/controller/internal/whereabouts"
)

func TestRecordsAreReadWithTheirProblems(t *testing.T) {
	text, err := os.ReadFile("testdata/records.json")
	require.NoError(t, err)
	objects, err := whereabouts.Objects(text)
	require.NoError(t, err)
	records, err := whereabouts.Records(objects)
	require.NoError(t, err)
	var said []string
	for _, r := range records {
		said = append(said, r.Address.String()+" "+r.Pod.String()+" "+r.Interface+": "+r.Problem)
	}
	require.Equal(t, []string{
		"invalid IP default/lost : \"-1\" is not an index in 10.20.0.0/24",
		"invalid IP default/beyond : \"300\" is not an index in 10.20.0.0/24",
		"invalid IP default/text : \"web\" is not an index in 10.20.0.0/24",
		"invalid IP / : its range \"everything\" is not a CIDR",
		"10.20.0.1 default/web-0 net1: ",
		"10.20.0.2 default/web-1 net1: OverlappingRangeIPReservation kube-system/10.20.0.2 names default/web-9 as its holder",
		"10.20.0.3 / : \"web-2\" does not name a pod",
		"10.20.0.4 default/web-4 net1: it belongs to the IPAMClaim default/vm, not to a pod",
		"10.20.0.9 default/gone : it is reserved but in no pool",
		"2001:db8::1:0:0:5 default/web-0 net1: ",
	}, said)
}

func TestSingleObjectIsReadAsAList(t *testing.T) {
	objects, err := whereabouts.Objects([]byte(`{"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool", "spec": {"range": "10.0.0.0/30", "allocations": {"1": {"podref": "a/b"}}}}`))
	require.NoError(t, err)
	records, err := whereabouts.Records(objects)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "10.0.0.1", records[0].Address.String())
	_, err = whereabouts.Objects([]byte("apiVersion: v1"))
	require.ErrorContains(t, err, "no Kubernetes objects")
}
