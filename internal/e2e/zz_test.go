package e2e
import ("testing";"github.com/carve-ipam/carve/client";"time")
func TestZZ(t *testing.T){
 ranges:=awsRanges(t); plan:=forest(ranges)
 l,w:=newLoader(t)
 var jobs []job
 for _,n:=range plan{ if n.depth==0{ jobs=append(jobs,l.pool(t,n.name(),"default","",client.IPPoolSpec{CIDR:n.block.String()}))}}
 l.load(t,jobs[:3000])
 t0:=time.Now(); w.writesNothing(t,func(){}); t.Log("dumps",time.Since(t0))
 t0=time.Now(); n:=len(all[client.IPPool](t, w.caller, at("pools"))); t.Log("list",n,time.Since(t0))
}
