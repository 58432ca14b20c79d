package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A dump of NetBox 4.2 refers to scopes and tags by content types. A content type is a natural key or a number. Custom fields have another name in a
// dump than in the API.
func TestNetBoxDumpScopesTagsAndCustomFieldsAreRead(t *testing.T) {
	t.Parallel()
	const natural = `[
	{"model":"dcim.site","pk":5,"fields":{"name":"DM-Akron"}},{"model":"dcim.region","pk":5,"fields":{"name":"Ohio"}},
	{"model":"extras.tag","pk":3,"fields":{"name":"Alpha"}},
	{"model":"extras.taggeditem","pk":1,"fields":{"content_type":["ipam","prefix"],"object_id":1,"tag":3}},
	{"model":"ipam.prefix","pk":1,"fields":{"prefix":"10.0.0.0/16","scope_type":["dcim","site"],"scope_id":5,"custom_field_data":{"cost":"x1","empty":null}}},
	{"model":"ipam.prefix","pk":2,"fields":{"prefix":"10.1.0.0/16","scope_type":["dcim","region"],"scope_id":5}}]`
	numbers := strings.NewReplacer(`["ipam","prefix"]`, "70", `["dcim","site"]`, "71", `["dcim","region"]`, "72").Replace(natural)
	const types = `{"model":"contenttypes.contenttype","pk":70,"fields":{"app_label":"ipam","model":"prefix"}},
	{"model":"contenttypes.contenttype","pk":71,"fields":{"app_label":"dcim","model":"site"}},
	{"model":"contenttypes.contenttype","pk":72,"fields":{"app_label":"dcim","model":"region"}},`
	for _, text := range []string{natural, "[" + types + numbers[1:]} {
		read, err := Read("netbox", []File{{Name: "dump.json", Text: strings.NewReader(text)}})
		require.NoError(t, err)
		require.Empty(t, read.Notes)
		var got []string
		for n := range rowsOf(read) {
			if r := &rowsOf(read)[n]; r.Kind == Prefix {
				got = append(got, strings.Join([]string{r.Where(), r.Field("site"), r.Field("region"), r.Field("scope"), r.Field("tag:Alpha"), r.Field("cf:cost")}, "|"))
			}
		}
		require.Equal(t, []string{"10.0.0.0/16|DM-Akron||DM-Akron|true|x1", "10.1.0.0/16||Ohio|Ohio||"}, got)
		require.True(t, read.CanHave("cf:empty"), "a custom field without a value is known")
		require.False(t, read.CanHave("cf:nope"))
	}
	read, err := Read("netbox", []File{{Name: "dump.json", Text: strings.NewReader(numbers)}})
	require.NoError(t, err)
	require.Contains(t, strings.Join(read.Notes, ""), "the import ignores scopes and tags of the dump")
}

// A VRF has the same key in the API, in a dump and in a table of NetBox.
func TestVRFHasTheSameKeyInAllFormats(t *testing.T) {
	t.Parallel()
	for form, text := range map[string]string{
		"API":       `[{"id":1,"prefix":"10.0.0.0/16","vrf":{"id":11,"name":"GUEST","rd":"65000:10"}}]`,
		"Dump":      `[{"model":"ipam.vrf","pk":11,"fields":{"name":"GUEST","rd":"65000:10"}},{"model":"ipam.prefix","pk":1,"fields":{"prefix":"10.0.0.0/16","vrf":11}}]`,
		"List":      "Prefix,VRF\n10.0.0.0/16,GUEST (65000:10)\n",
		"Columns":   "prefix,vrf,vrf.rd\n10.0.0.0/16,GUEST,65000:10\n",
		"ListAlone": "Prefix,VRF,Tenant\n10.0.0.0/16,GUEST (65000:10),\n",
	} {
		read, err := Read("netbox", []File{{Name: "f", Text: strings.NewReader(text)}})
		require.NoError(t, err, form)
		r := &rowsOf(read)[len(rowsOf(read))-1]
		require.Equal(t, "GUEST (65000:10)|GUEST|65000:10", r.Domain+"|"+r.Field("vrf")+"|"+r.Field("vrf.rd"), form)
	}
	vrfs := File{Name: "vrfs.json", Text: strings.NewReader(`[{"id":1,"name":"A","rd":null},{"id":2,"name":"A","rd":null},{"id":3,"name":"B","rd":"1:1"}]`)}
	read, err := Read("netbox", []File{vrfs, {Name: "f", Text: strings.NewReader("Prefix,VRF\n10.0.0.0/16,A\n10.1.0.0/16,B (1:1)\n10.2.0.0/16,Global\n")}})
	require.NoError(t, err)
	require.Contains(t, rowsOf(read)[3].Problem, "several VRFs have the name A: A (id 1), A (id 2)")
	require.Equal(t, "B (1:1)|3", rowsOf(read)[4].Domain+"|"+rowsOf(read)[4].Field("vrf.id"))
	require.Empty(t, rowsOf(read)[5].Domain)
}

func TestAWSAndPHPIPAMFieldsAreRead(t *testing.T) {
	t.Parallel()
	read, err := Read("aws", []File{{Name: "f", Text: strings.NewReader(`{"IpamResourceCidrs":[{"ResourceCidr":"10.0.0.0/16","ResourceId":"vpc-1","ResourceType":"vpc","ResourceOwnerId":"123456789012"}]}`)}})
	require.NoError(t, err)
	require.Equal(t, "123456789012", rowsOf(read)[0].Field("owner"))
	read, err = Read("phpipam", []File{{Name: "f", Text: strings.NewReader("section,ip,subnet,hostname\nA,10.0.0.7,10.0.0.0/24,host\n")}})
	require.NoError(t, err)
	require.Equal(t, "address 10.0.0.7 host", string(rowsOf(read)[0].Kind)+" "+rowsOf(read)[0].Where()+" "+rowsOf(read)[0].Name)
}
