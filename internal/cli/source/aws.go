package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// awsDocument is what a describe- or get- command of the AWS CLI answers, or what AWS publishes of its own ranges.
type awsDocument struct {
	IpamPoolID          string           `json:"IpamPoolId"`
	IpamPools           []map[string]any `json:"IpamPools"`
	IpamPoolCidrs       []map[string]any `json:"IpamPoolCidrs"`
	IpamPoolAllocations []map[string]any `json:"IpamPoolAllocations"`
	IpamResourceCidrs   []map[string]any `json:"IpamResourceCidrs"`
	IpamScopes          []map[string]any `json:"IpamScopes"`
	Vpcs                []map[string]any `json:"Vpcs"`
	Subnets             []map[string]any `json:"Subnets"`
	Prefixes            []map[string]any `json:"prefixes"`
	IPv6Prefixes        []map[string]any `json:"ipv6_prefixes"`
}

// awsReading is one import while its files are read.
type awsReading struct {
	pools   map[string]map[string]any // by their IDs
	scopes  map[string]string         // names, by the ends of their ARNs
	placed  map[string]bool           // pools that have a block
	asked   map[string]bool           // pools of which a file says which blocks they have
	records []Record
}

// AWS reads the JSON of `aws ec2 describe-ipam-pools`, `get-ipam-pool-cidrs`, `get-ipam-pool-allocations`, `get-ipam-resource-cidrs`,
// `describe-ipam-scopes`, `describe-vpcs` and `describe-subnets`, and AWS' own ip-ranges, JSON or CSV.
func AWS(files []File) ([]Record, error) {
	a := awsReading{pools: map[string]map[string]any{}, scopes: map[string]string{}, placed: map[string]bool{}, asked: map[string]bool{}}
	docs := make([]awsDocument, len(files))
	for i, f := range files {
		if text := bytes.TrimSpace(f.Text); len(text) > 0 && text[0] != '{' {
			records, err := CSV([]File{f})
			if err != nil {
				return nil, err
			}
			a.records = append(a.records, records...)
			continue
		}
		if err := json.Unmarshal(f.Text, &docs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, p := range docs[i].IpamPools {
			a.pools[plain(p["IpamPoolId"])] = p
		}
		for _, s := range docs[i].IpamScopes {
			a.scopes[plain(s["IpamScopeId"])] = awsName(s, plain(s["IpamScopeId"]))
		}
	}
	for i, f := range files {
		a.document(f, docs[i])
	}
	for _, f := range docs {
		for _, p := range f.IpamPools {
			if id := plain(p["IpamPoolId"]); !a.placed[id] {
				r := Record{ID: id, Kind: Reference, Name: awsName(p, id), Fields: map[string]string{"model": "ipam-pool without a block"}}
				if !a.asked[id] {
					r.Problem = "no file says which block it has: add the answer of `aws ec2 get-ipam-pool-cidrs --ipam-pool-id " + id + "`"
				}
				a.records = append(a.records, r)
			}
		}
	}
	return a.records, nil
}

var awsPoolID = regexp.MustCompile(`ipam-pool-[0-9a-f]+`)

// document reads one answer. Those about one pool do not say which: the name of the file does, or a member IpamPoolId beside the list.
func (a *awsReading) document(f File, d awsDocument) {
	pool := d.IpamPoolID
	if pool == "" {
		pool = awsPoolID.FindString(f.Name)
	}
	a.asked[pool] = a.asked[pool] || d.IpamPoolCidrs != nil
	for i, c := range d.IpamPoolCidrs {
		a.poolBlock(fmt.Sprintf("%s/%s", pool, plain(c["Cidr"])), pool, fmt.Sprintf("%s[%d]", f.Name, i), c)
	}
	for _, c := range d.IpamPoolAllocations {
		if id := plain(c["ResourceId"]); plain(c["ResourceType"]) == "ipam-pool" && a.pools[id] != nil {
			a.poolBlock(plain(c["IpamPoolAllocationId"]), id, f.Name, c)
			continue
		}
		r := a.block(plain(c["IpamPoolAllocationId"]), plain(c["ResourceType"]), c, "Cidr")
		if r.Name = plain(c["Description"]); r.Name == "" {
			r.Name = plain(c["ResourceId"])
		}
		r.set("scope", a.scopeOf(a.pools[pool]))
		a.records = append(a.records, r)
	}
	for _, c := range d.IpamResourceCidrs {
		r := a.block(plain(c["ResourceId"])+"/"+plain(c["ResourceCidr"]), plain(c["ResourceType"]), c, "ResourceCidr")
		if r.Name = plain(c["ResourceName"]); r.Name == "" {
			r.Name = plain(c["ResourceId"])
		}
		r.set("scope", a.scopeName(plain(c["IpamScopeId"]), plain(c["IpamScopeType"])))
		a.records = append(a.records, r)
	}
	for _, c := range append(d.Vpcs, d.Subnets...) {
		id, kind := plain(c["SubnetId"]), "subnet"
		if id == "" {
			id, kind = plain(c["VpcId"]), "vpc"
		}
		a.network(id, kind, c)
	}
	for _, c := range append(d.Prefixes, d.IPv6Prefixes...) {
		text := plain(c["ip_prefix"]) + plain(c["ipv6_prefix"])
		r := Record{ID: text + " " + plain(c["service"]) + " " + plain(c["region"]), Kind: Prefix}
		r.network(text)
		for _, name := range []string{"region", "service", "network_border_group"} {
			r.set(name, plain(c[name]))
		}
		a.records = append(a.records, r)
	}
	for _, s := range d.IpamScopes {
		fields := map[string]string{"model": "ipam-scope"}
		a.records = append(a.records, Record{ID: plain(s["IpamScopeId"]), Kind: Reference, Name: awsName(s, ""), Fields: fields})
	}
}

// network are the blocks of a VPC or a subnet: one, and those of both families that were associated with it.
func (a *awsReading) network(id, kind string, c map[string]any) {
	name := awsName(c, id)
	add := func(id, block string) {
		c["Block"] = block
		r := a.block(id, kind, c, "Block")
		r.Name = name
		a.records = append(a.records, r)
	}
	first := plain(c["CidrBlock"])
	if first != "" { // of a subnet with IPv6 alone there is none
		add(id, first)
	}
	for _, member := range []string{"CidrBlock", "Ipv6CidrBlock"} {
		list, _ := c[member+"AssociationSet"].([]any) // there may be none
		for _, one := range list {
			association, _ := one.(map[string]any)
			state, _ := association[member+"State"].(map[string]any)
			block := plain(association[member])
			if block != first && !slices.Contains([]string{"disassociating", "disassociated", "failing", "failed"}, plain(state["State"])) {
				add(id+"/"+block, block)
			}
		}
	}
}

// poolBlock is a block that a pool of IPAM has.
func (a *awsReading) poolBlock(id, pool, where string, c map[string]any) {
	p := a.pools[pool]
	if pool == "" {
		id = where
	}
	r := a.block(id, "ipam-pool", c, "Cidr")
	if state := plain(c["State"]); state != "" && state != "provisioned" {
		r.Status = state
	}
	if p != nil {
		a.placed[pool] = true
		r.Name = awsName(p, pool)
		r.set("description", plain(p["Description"]))
		r.set("locale", plain(p["Locale"]))
		r.set("scope", a.scopeOf(p))
		for field, of := range map[string]string{
			"minPrefixLength": "AllocationMinNetmaskLength", "maxPrefixLength": "AllocationMaxNetmaskLength",
			"defaultPrefixLength": "AllocationDefaultNetmaskLength",
		} {
			r.set(field, plain(p[of]))
		}
	}
	a.records = append(a.records, r)
}

// block is a record of one block, with what all of them have.
func (a *awsReading) block(id, kind string, c map[string]any, member string) Record {
	r := Record{ID: id, Kind: Prefix}
	r.set("type", kind)
	r.network(plain(c[member]))
	for field, of := range map[string]string{
		"resource": "ResourceId", "region": "ResourceRegion", "owner": "ResourceOwner", "account": "OwnerId", "description": "Description",
		"vpc": "VpcId", "zone": "AvailabilityZone",
	} {
		r.set(field, plain(c[of]))
	}
	return r
}

// scopeOf is the scope of a pool: the default private one is none.
func (a *awsReading) scopeOf(p map[string]any) string {
	arn := plain(p["IpamScopeArn"])
	return a.scopeName(arn[strings.LastIndex(arn, "/")+1:], plain(p["IpamScopeType"]))
}

func (a *awsReading) scopeName(id, kind string) string {
	if name, found := a.scopes[id]; found && name != id {
		return name
	}
	return kind // private or public, where no file says more
}

// awsName is the tag Name, or the description, or else what is given.
func awsName(c map[string]any, otherwise string) string {
	if tags, is := c["Tags"].([]any); is {
		for _, t := range tags {
			if tag, is := t.(map[string]any); is && plain(tag["Key"]) == "Name" && plain(tag["Value"]) != "" {
				return plain(tag["Value"])
			}
		}
	}
	return otherwise
}
