package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// awsDocument is the output of a describe- or get- command of the AWS CLI, or the list of AWS' own ranges.
type awsDocument struct {
	NextToken           string           `json:"NextToken"`
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

// awsScope is a scope of AWS IPAM. A scope is a routing domain.
type awsScope struct {
	name, kind string
	isDefault  bool
}

// awsReading is the state of one import.
type awsReading struct {
	out       *Reading
	pools     map[string]map[string]any // by ID
	scopes    map[string]awsScope       // by ID
	placed    map[string]bool           // pools for which a file has a block
	asked     map[string]bool           // pools for which a file has the list of blocks
	allocated map[string]bool           // pools for which a file has the list of allocations
}

// awsLists lists the members by which a document is recognized as output of AWS.
var awsLists = []string{
	"IpamPools", "IpamPoolCidrs", "IpamPoolAllocations", "IpamResourceCidrs", "IpamScopes", "Vpcs", "Subnets", "prefixes", "ipv6_prefixes",
}

// readAWS reads files from AWS. They are the JSON of these commands:
//
//   - `aws ec2 describe-ipam-pools`, `get-ipam-pool-cidrs` and `get-ipam-pool-allocations`
//   - `aws ec2 get-ipam-resource-cidrs` and `describe-ipam-scopes`
//   - `aws ec2 describe-vpcs` and `describe-subnets`
//
// It also reads AWS' own ip-ranges and a CSV table.
func readAWS(files []File, out *Reading) error {
	out.fill("type", "scope", "scope.id", "region", "locale", "owner", "account", "description", "resource", "vpc", "zone", "service", "services",
		"network_border_group", "minPrefixLength", "maxPrefixLength", "defaultPrefixLength")
	a := awsReading{out: out, pools: map[string]map[string]any{}, scopes: map[string]awsScope{}, placed: map[string]bool{}, asked: map[string]bool{},
		allocated: map[string]bool{}}
	docs := make([]awsDocument, len(files))
	for i, f := range files {
		if !f.isJSON() {
			out.Table = true
			if err := readTable(f, out); err != nil {
				return err
			}
			continue
		}
		if err := docs[i].read(f); err != nil {
			return err
		}
		for _, p := range docs[i].IpamPools {
			a.pools[plain(p["IpamPoolId"])] = p
		}
		for _, s := range docs[i].IpamScopes {
			id, isDefault := plain(s["IpamScopeId"]), s["IsDefault"] == true
			a.scopes[id] = awsScope{name: awsName(s, ""), kind: plain(s["IpamScopeType"]), isDefault: isDefault}
		}
	}
	for i, f := range files {
		a.document(f, docs[i])
	}
	a.unplaced(docs)
	return nil
}

// read reads one document. If the document is not complete, read returns an error.
func (d *awsDocument) read(f File) error {
	var members map[string]json.RawMessage
	if err := decodeJSON(f, &members); err != nil {
		return err
	}
	if !slices.ContainsFunc(awsLists, func(name string) bool { return members[name] != nil }) {
		return fmt.Errorf("%s: it is not a supported response of AWS: it seems to be %s. Supported responses have one of the lists %s", f.Name, f.detectFormat(), strings.Join(awsLists, ", "))
	}
	if err := decodeJSON(f, d); err != nil {
		return err
	}
	if d.NextToken != "" {
		return fmt.Errorf("%s: AWS has more pages of this response (NextToken): run the command without --max-items and --no-paginate", f.Name)
	}
	return nil
}

// unplaced reports each pool for which no file has the blocks or the allocations.
func (a *awsReading) unplaced(docs []awsDocument) {
	for _, d := range docs {
		for _, p := range d.IpamPools {
			id := plain(p["IpamPoolId"])
			if len(a.allocated) > 0 && !a.allocated[id] {
				a.out.Missing = append(a.out.Missing, "no file has the allocations of pool "+id+": add the output of `aws ec2 get-ipam-pool-allocations --ipam-pool-id "+id+"`")
			}
			if a.placed[id] {
				continue
			}
			r := Record{ID: id, Kind: Reference, Name: awsName(p, id)}
			r.set("model", "ipam-pool without a block")
			if !a.asked[id] {
				r.Problem = "no file contains its block: add the output of `aws ec2 get-ipam-pool-cidrs --ipam-pool-id " + id + "`"
			}
			a.out.Records.add(r)
		}
	}
}

var awsPoolID = regexp.MustCompile(`ipam-pool-[0-9a-f]+`)

// document adds the rows of one document. A document about one pool may not name that pool. In that case, the pool is in the file name or in a member
// IpamPoolId beside the list.
func (a *awsReading) document(f File, d awsDocument) {
	pool := d.IpamPoolID
	if pool == "" {
		pool = awsPoolID.FindString(f.Name)
	}
	a.asked[pool] = a.asked[pool] || d.IpamPoolCidrs != nil
	if d.IpamPoolAllocations != nil {
		a.allocated[pool] = true
	}
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
		r.Same = plain(c["ResourceId"])
		a.scopeOf(&r, a.pools[pool])
		a.out.Records.add(r)
	}
	for _, c := range d.IpamResourceCidrs {
		r := a.block(plain(c["ResourceId"])+"/"+plain(c["ResourceCidr"]), plain(c["ResourceType"]), c, "ResourceCidr")
		if r.Name = plain(c["ResourceName"]); r.Name == "" {
			r.Name = plain(c["ResourceId"])
		}
		r.Same = plain(c["ResourceId"])
		a.scope(&r, plain(c["IpamScopeId"]), plain(c["IpamScopeType"]))
		a.out.Records.add(r)
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
		a.out.Records.add(r)
	}
	for _, s := range d.IpamScopes {
		r := Record{ID: plain(s["IpamScopeId"]), Kind: Reference, Name: awsName(s, "")}
		r.set("model", "ipam-scope")
		a.out.Records.add(r)
	}
}

// network adds the blocks of a VPC or a subnet. They are the main block and the associated blocks of both families.
func (a *awsReading) network(id, kind string, c map[string]any) {
	name, resource := awsName(c, id), id
	add := func(id, block string) {
		c["Block"] = block
		r := a.block(id, kind, c, "Block")
		r.Name, r.Same = name, resource // an allocation in IPAM names the same resource
		a.out.Records.add(r)
	}
	first := plain(c["CidrBlock"])
	if first != "" { // an IPv6-only subnet has no main block
		add(id, first)
	}
	for _, member := range []string{"CidrBlock", "Ipv6CidrBlock"} {
		list, _ := c[member+"AssociationSet"].([]any) // the list may be absent
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

// poolBlock adds a block of a pool in AWS IPAM.
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
		if locale := plain(p["Locale"]); locale != "None" { // AWS writes None if the pool has no locale
			r.set("locale", locale)
		}
		a.scopeOf(&r, p)
		for field, of := range map[string]string{
			"minPrefixLength": "AllocationMinNetmaskLength", "maxPrefixLength": "AllocationMaxNetmaskLength",
			"defaultPrefixLength": "AllocationDefaultNetmaskLength",
		} {
			r.set(field, plain(p[of]))
		}
	}
	a.out.Records.add(r)
}

// block returns a record with one block and the fields that all kinds of rows have.
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
	r.set("owner", plain(c["ResourceOwnerId"])) // the field of resource CIDRs
	return r
}

// scopeOf sets the scope of a record to the scope of a pool.
func (a *awsReading) scopeOf(r *Record, p map[string]any) {
	arn := plain(p["IpamScopeArn"])
	a.scope(r, arn[strings.LastIndex(arn, "/")+1:], plain(p["IpamScopeType"]))
}

// scope sets the scope of a record. The ID identifies the scope, and people see a display name. The display name is the tag Name. Without that tag,
// the default scope of a type shows the type, and any other scope shows its ID. If no file lists the scopes, every scope shows its type.
func (a *awsReading) scope(r *Record, id, kind string) {
	s, known := a.scopes[id]
	name := s.name
	switch {
	case name != "":
	case !known || s.isDefault:
		name = cmp.Or(kind, s.kind, id)
	default:
		name = id
	}
	r.set("scope", name)
	r.set("scope.id", id)
	r.Domain = id
	if id == "" {
		r.Domain = kind
	}
}

// awsName returns the tag Name. If there is no such tag, it returns the text otherwise.
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
