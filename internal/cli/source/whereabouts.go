package source

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// whereaboutsObject is an IPPool or an OverlappingRangeIPReservation.
type whereaboutsObject struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Range       string                       `json:"range"`
		Allocations map[string]whereaboutsHolder `json:"allocations"`
		PodRef      string                       `json:"podref"`
	} `json:"spec"`
}

type whereaboutsHolder struct {
	Pod       string `json:"podref"`
	Interface string `json:"ifname"`
	Container string `json:"id"`
}

// whereaboutsList is a Kubernetes list, or one object.
type whereaboutsList struct {
	Metadata struct {
		Continue  string `json:"continue"`
		Remaining int    `json:"remainingItemCount"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// readWhereabouts reads the IPPools of whereabouts.cni.cncf.io in the form that `kubectl get -o json` writes. An OverlappingRangeIPReservation only
// repeats a pool's data, so it becomes a Reference.
func readWhereabouts(files []File, out *Reading) error {
	out.fill("pod", "interface", "container")
	for _, f := range files {
		var list whereaboutsList
		if err := decodeJSON(f, &list); err != nil {
			return err
		}
		if list.Metadata.Continue != "" || list.Metadata.Remaining > 0 {
			return fmt.Errorf("%s: the list is incomplete: Kubernetes has %d more items (metadata.continue); run kubectl without a limit", f.Name, list.Metadata.Remaining)
		}
		if list.Items == nil {
			text, err := f.whole()
			if err != nil {
				return err
			}
			list.Items = []json.RawMessage{text}
		}
		out.listFile("a list")
		for i, text := range list.Items {
			var o whereaboutsObject
			if err := json.Unmarshal(text, &o); err != nil {
				return fmt.Errorf("%s: item %d: %w", f.Name, i+1, err)
			}
			out.Records.add(o.records()...)
		}
	}
	return nil
}

func (o whereaboutsObject) records() []Record {
	id := o.Kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name
	if o.Kind != "IPPool" {
		r := Record{ID: id, Kind: Reference, Name: o.Metadata.Name}
		r.set("model", o.Kind)
		return []Record{r}
	}
	pool := Record{ID: id, Kind: Prefix, Name: o.Metadata.Name}
	pool.network(o.Spec.Range)
	all := []Record{pool}
	for key, holder := range show.Sorted(o.Spec.Allocations) {
		r := Record{ID: id + "[" + key + "]", Kind: Address, Name: strings.ReplaceAll(holder.Pod, "/", "-")}
		r.set("pod", holder.Pod)
		r.set("interface", holder.Interface)
		r.set("container", holder.Container)
		if address := behind(pool.Block, key); address.IsValid() {
			r.Block = netip.PrefixFrom(address, address.BitLen())
		} else {
			r.Problem = fmt.Sprintf("%q is not an offset in the range %q", key, o.Spec.Range)
		}
		all = append(all, r)
	}
	return all
}

// behind returns the address at an offset from a block's first address. If the address is not in the block, it returns the zero address.
func behind(block netip.Prefix, key string) netip.Addr {
	n, ok := new(big.Int).SetString(key, 10)
	if !ok || n.Sign() < 0 || !block.IsValid() {
		return netip.Addr{}
	}
	bytes := block.Addr().AsSlice()
	n.Add(n, new(big.Int).SetBytes(bytes))
	if n.BitLen() > 8*len(bytes) {
		return netip.Addr{}
	}
	address, _ := netip.AddrFromSlice(n.FillBytes(bytes))
	if !block.Contains(address) {
		return netip.Addr{}
	}
	return address
}
