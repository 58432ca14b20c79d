package source

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// awsHeld is a block that a VPC or a subnet has in a scope.
type awsHeld struct {
	block       netip.Prefix
	scope, kind string
}

// pool returns the pool that a response is about, or "".
func (d *awsDocument) pool(f File) string { return cmp.Or(d.IpamPoolID, awsPoolID.FindString(f.Name)) }

// scopeID returns the ID of a pool's scope.
func scopeID(pool map[string]any) string {
	arn := plain(pool["IpamScopeArn"])
	return arn[strings.LastIndex(arn, "/")+1:]
}

// learn stores the type of each scope. It also stores in which scope the blocks of VPCs and subnets are, because describe-vpcs and describe-subnets do
// not name the scope.
func (a *awsReading) learn(d awsDocument, f File) {
	for _, p := range d.IpamPools {
		a.scopeType(scopeID(p), plain(p["IpamScopeType"]))
	}
	for _, s := range d.IpamScopes {
		a.scopeType(plain(s["IpamScopeId"]), plain(s["IpamScopeType"]))
	}
	hold := func(block, scope, kind string, resources ...any) {
		b, err := netip.ParsePrefix(block)
		for _, r := range resources {
			if id := plain(r); err == nil && id != "" && cmp.Or(scope, kind) != "" {
				a.held[id] = append(a.held[id], awsHeld{b, cmp.Or(scope, kind), kind})
			}
		}
	}
	for _, c := range d.IpamPoolAllocations {
		if p := a.pools[d.pool(f)]; p != nil {
			hold(plain(c["Cidr"]), scopeID(p), plain(p["IpamScopeType"]), c["ResourceId"])
		}
	}
	for _, c := range d.IpamResourceCidrs {
		scope, kind := plain(c["IpamScopeId"]), plain(c["IpamScopeType"])
		a.scopeType(scope, kind)
		hold(plain(c["ResourceCidr"]), scope, kind, c["ResourceId"], c["VpcId"])
	}
}

func (a *awsReading) scopeType(id, kind string) {
	if id = cmp.Or(id, kind); id != "" {
		a.kinds[id] = cmp.Or(a.kinds[id], kind)
	}
}

// scopeAround sets the scope of a block whose response does not name it. An allocation or a resource CIDR with the block has
// the scope. Otherwise the block is in the scope of the resource's other blocks, or in the only scope of the type kind ("": any type). If several
// scopes are possible, the row has a problem. command is the command whose response names the scope.
func (a *awsReading) scopeAround(r *Record, kind, command string, resources ...string) {
	if r.Problem != "" {
		return
	}
	var held []awsHeld
	for _, name := range resources {
		held = append(held, a.held[name]...)
	}
	held = slices.DeleteFunc(held, func(h awsHeld) bool { return h.block.Addr().Is4() != r.Block.Addr().Is4() })
	if at := slices.IndexFunc(held, func(h awsHeld) bool { return h.block.Overlaps(r.Block) }); at >= 0 {
		held = held[at : at+1]
	}
	if len(held) == 0 {
		for id, of := range a.kinds {
			if kind == "" || of == "" || of == kind {
				held = append(held, awsHeld{scope: id, kind: of})
			}
		}
	}
	for _, h := range held {
		if h.scope != held[0].scope {
			r.Problem = "no file names the scope of this block: add the output of `aws ec2 " + command + "`"
			return
		}
	}
	if len(held) > 0 {
		a.scope(r, held[0].scope, held[0].kind)
	}
}

// awsKind returns the type of the scopes that have such blocks of VPCs. AWS puts a VPC's IPv6 blocks into public scopes, except unique local ones.
func awsKind(block netip.Prefix) string {
	if block.Addr().Is4() || block.Addr().IsPrivate() {
		return "private"
	}
	return "public"
}
