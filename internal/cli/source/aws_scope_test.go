package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// All rows in one scope of AWS have the same routing domain and the same scope name, even if a response names only the scope's ID or no scope.
func TestEveryRowOfAScopeNamesTheSameScope(t *testing.T) {
	t.Parallel()
	const (
		pools = `{"IpamPools":[{"IpamPoolId":"ipam-pool-1","IpamScopeArn":"arn:aws:ec2::1:ipam-scope/ipam-scope-1","IpamScopeType":"private"}],
			"IpamPoolId":"ipam-pool-1","IpamPoolCidrs":[{"Cidr":"10.0.0.0/8"}],
			"IpamPoolAllocations":[{"Cidr":"10.0.0.0/16","IpamPoolAllocationId":"a1","ResourceId":"vpc-1","ResourceType":"vpc"}]}`
		resources = `{"IpamResourceCidrs":[{"IpamScopeId":"ipam-scope-1","ResourceId":"vpc-1","ResourceCidr":"10.0.0.0/16","ResourceType":"vpc"}]}`
		vpcs      = `{"Vpcs":[{"VpcId":"vpc-1","CidrBlock":"10.0.0.0/16"}],"Subnets":[{"SubnetId":"subnet-1","VpcId":"vpc-1","CidrBlock":"10.0.1.0/24"}]}`
		listed    = `{"IpamScopes":[{"IpamScopeId":"ipam-scope-1","IpamScopeType":"private","IsDefault":true}]}`
		tagged    = `{"IpamScopes":[{"IpamScopeId":"ipam-scope-1","IpamScopeType":"private","IsDefault":true,"Tags":[{"Key":"Name","Value":"corp"}]}]}`
		second    = `{"IpamPools":[{"IpamPoolId":"ipam-pool-2","IpamScopeArn":"arn:aws:ec2::1:ipam-scope/ipam-scope-2","IpamScopeType":"private"}],
			"IpamPoolId":"ipam-pool-2","IpamPoolCidrs":[{"Cidr":"10.0.0.0/8"}]}`
		others = `{"Vpcs":[{"VpcId":"vpc-2","CidrBlock":"10.9.0.0/16"}]}`
	)
	for name, c := range map[string]struct {
		files []string
		want  string // the scope and the domain of all rows except those in scope ipam-scope-2
	}{
		"NoScopes":      {[]string{pools, resources, vpcs}, "private ipam-scope-1"},
		"PoolsLast":     {[]string{vpcs, resources, pools}, "private ipam-scope-1"},
		"Default":       {[]string{listed, pools, resources, vpcs}, "private ipam-scope-1"},
		"Tagged":        {[]string{tagged, pools, resources, vpcs, others}, "corp ipam-scope-1"},
		"ResourcesOnly": {[]string{resources, vpcs}, "ipam-scope-1 ipam-scope-1"},
		"VPCsOnly":      {[]string{vpcs}, " "},
		"TwoScopes":     {[]string{tagged, pools, second, vpcs}, "corp ipam-scope-1"},
	} {
		var files []File
		for _, text := range c.files {
			files = append(files, File{Name: "f", Text: strings.NewReader(text)})
		}
		read, err := Read("aws", files)
		require.NoError(t, err, name)
		for _, r := range rowsOf(read) {
			if r.Kind == Prefix && r.Domain != "ipam-scope-2" {
				require.Equal(t, c.want, r.Fields.Get("scope")+" "+r.Domain, "%s: %s", name, r.ID)
				require.Empty(t, r.Problem)
			}
		}
	}
	read, err := Read("aws", []File{{Name: "f", Text: strings.NewReader(pools)}, {Name: "g", Text: strings.NewReader(second)}, {Name: "h", Text: strings.NewReader(others)}})
	require.NoError(t, err)
	rows := rowsOf(read)
	require.Contains(t, rows[len(rows)-1].Problem, "no file names the scope of this block: add the output of `aws ec2 get-ipam-resource-cidrs`")
}
