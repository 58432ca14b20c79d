package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// awsDocument is the output of a describe- or get- command in the AWS CLI, or the list of AWS' own ranges. The decoder ignores upper and lower case.
type awsDocument struct {
	NextToken           string
	IpamPoolID          string
	IpamPools           []map[string]any
	IpamPoolCidrs       []map[string]any
	IpamPoolAllocations []map[string]any
	IpamResourceCidrs   []map[string]any
	IpamScopes          []map[string]any
	Vpcs                []map[string]any
	Subnets             []map[string]any
	Prefixes            []map[string]any
	IPv6Prefixes        []map[string]any `json:"ipv6_prefixes"`
}

// awsReading has the data that several files share.
type awsReading struct {
	out       *Reading
	pools     map[string]map[string]any // by ID
	scopes    map[string]map[string]any // by ID
	kinds     map[string]string         // by scope: private or public
	held      map[string][]awsHeld      // by VPC or subnet: its blocks in a scope
	placed    map[string]bool           // pools with a known block
	asked     map[string]bool           // pools whose blocks a file lists
	allocated map[string]bool           // pools whose allocations a file lists
}

// awsLists lists the members that identify a document as AWS output.
var awsLists = []string{
	"IpamPools", "IpamPoolCidrs", "IpamPoolAllocations", "IpamResourceCidrs", "IpamScopes", "Vpcs", "Subnets", "prefixes", "ipv6_prefixes",
}

// readAWS reads the JSON output of these commands:
//
//   - `aws ec2 describe-ipam-pools`, `get-ipam-pool-cidrs` and `get-ipam-pool-allocations`
//   - `aws ec2 get-ipam-resource-cidrs` and `describe-ipam-scopes`
//   - `aws ec2 describe-vpcs` and `describe-subnets`
//
// It also reads AWS' own ip-ranges and a CSV table.
func readAWS(files []File, out *Reading) error {
	out.fill("type", "scope", "scope.id", "region", "locale", "owner", "account", "description", "resource", "vpc", "zone", "service", "services",
		"network_border_group", "minPrefixLength", "maxPrefixLength", "defaultPrefixLength")
	a := awsReading{out: out, pools: map[string]map[string]any{}, scopes: map[string]map[string]any{}, placed: map[string]bool{}, asked: map[string]bool{},
		allocated: map[string]bool{}, kinds: map[string]string{}, held: map[string][]awsHeld{}}
	docs := make([]awsDocument, len(files))
	for i, f := range files {
		if !f.isJSON() {
			if err := readTable(f, out); err != nil {
				return err
			}
			continue
		}
		if err := docs[i].read(f, out); err != nil {
			return err
		}
		for _, p := range docs[i].IpamPools {
			a.pools[plain(p["IpamPoolId"])] = p
		}
		for _, s := range docs[i].IpamScopes {
			a.scopes[plain(s["IpamScopeId"])] = s
		}
	}
	for i, f := range files {
		a.learn(docs[i], f)
	}
	for i, f := range files {
		a.document(f, docs[i])
	}
	a.unplaced(docs)
	return nil
}

// read reads one document, and adds its lists to out. All responses about single pools count as one list, because pools may be deleted. If the
// document is not complete, read returns an error.
func (d *awsDocument) read(f File, out *Reading) error {
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
	for name := range show.Sorted(members) {
		switch {
		case !slices.Contains(awsLists, name):
		case name == "IpamPoolCidrs" || name == "IpamPoolAllocations":
			out.list(name)
		default:
			out.listFile(name)
		}
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

// document adds a document's rows. AWS does not repeat the pool in a response about one pool. The file name or an added member IpamPoolId then names
// it.
func (a *awsReading) document(f File, d awsDocument) {
	pool := d.pool(f)
	if d.IpamPoolCidrs != nil {
		a.asked[pool] = true
	}
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
		r.ObjectKey = plain(c["ResourceId"])
		r.Name = cmp.Or(plain(c["Description"]), r.ObjectKey)
		a.scopeOf(&r, a.pools[pool])
		a.out.Records.add(r)
	}
	for _, c := range d.IpamResourceCidrs {
		r := a.block(plain(c["ResourceId"])+"/"+plain(c["ResourceCidr"]), plain(c["ResourceType"]), c, "ResourceCidr")
		r.ObjectKey = plain(c["ResourceId"])
		r.Name = cmp.Or(plain(c["ResourceName"]), r.ObjectKey)
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

// network adds the blocks of a VPC or a subnet: the main block, and the associated blocks of both families.
func (a *awsReading) network(id, kind string, c map[string]any) {
	name, resource := awsName(c, id), id
	add := func(id, block string) {
		c["Block"] = block
		r := a.block(id, kind, c, "Block")
		r.Name, r.ObjectKey = name, resource // an allocation in IPAM names the same resource
		a.scopeAround(&r, awsKind(r.Block), "get-ipam-resource-cidrs", resource, plain(c["VpcId"]))
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

// poolBlock adds a pool's block.
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
	} else {
		a.scopeOf(&r, nil)
	}
	a.out.Records.add(r)
}

// block returns a record with one block and the fields that all rows have.
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
	r.set("owner", plain(c["ResourceOwnerId"])) // only resource CIDRs have this field
	return r
}

// scopeOf sets a record's scope to a pool's scope.
func (a *awsReading) scopeOf(r *Record, p map[string]any) {
	if p == nil {
		a.scopeAround(r, "", "describe-ipam-pools", r.ObjectKey)
		return
	}
	a.scope(r, scopeID(p), plain(p["IpamScopeType"]))
}

// scope sets a record's scope. The ID identifies the scope, and people see the tag Name. Without that tag, they see the type for a default scope, and
// otherwise the ID. If no file lists the scopes, they see the type.
func (a *awsReading) scope(r *Record, id, kind string) {
	if id = cmp.Or(id, kind); id == "" {
		return
	}
	kind = cmp.Or(a.kinds[id], kind)
	s := a.scopes[id]
	name := id
	if s == nil || s["IsDefault"] == true {
		name = cmp.Or(kind, id)
	}
	r.set("scope", awsName(s, name))
	r.set("scope.id", id)
	r.Domain = id
}

// awsName returns the tag Name. If there is no such tag, it returns the text otherwise.
func awsName(c map[string]any, otherwise string) string {
	tags, _ := c["Tags"].([]any) // the list may be absent
	for _, t := range tags {
		if tag, _ := t.(map[string]any); plain(tag["Key"]) == "Name" && plain(tag["Value"]) != "" {
			return plain(tag["Value"])
		}
	}
	return otherwise
}
