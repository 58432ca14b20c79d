// Package whereabouts takes over what pods have been given by whereabouts, or by what keeps its records as it does: IPPools with a map of allocations,
// and a reservation for each address in OverlappingRangeIPReservations.
package whereabouts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strings"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The kinds of objects that are read.
const (
	group           = "whereabouts.cni.cncf.io"
	version         = "v1alpha1"
	kindPool        = "IPPool"
	kindReservation = "OverlappingRangeIPReservation"
)

// object is one of either kind, as far as it is read.
type object struct {
	meta.TypeMeta `json:",inline"`
	Metadata      meta.ObjectMeta `json:"metadata"`
	Spec          struct {
		// Range and Allocations are a pool's. The allocations are by how far their address is from that of the range.
		Range       string            `json:"range"`
		Allocations map[string]holder `json:"allocations"`
		// The holder is that of a reservation.
		holder
	} `json:"spec"`
}

// holder is who has an address.
type holder struct {
	Pod       string `json:"podref"`
	Interface string `json:"ifname"`
	Claim     string `json:"ipamclaimref"`
}

// Record is an address that somebody is said to have.
type Record struct {
	// Address is the address; it is not valid where Problem says why.
	Address netip.Addr
	// Pod has it.
	Pod types.NamespacedName
	// Interface is the pod's that has it; it may be unknown.
	Interface string
	// Source is where it is written.
	Source string
	// Problem is why it cannot be taken over whatever the pod says.
	Problem string
}

// Objects reads objects from what `kubectl get -o json` writes: one, or a list of them. Others are passed over.
func Objects(text []byte) ([]json.RawMessage, error) {
	var list struct {
		meta.TypeMeta `json:",inline"`
		Items         []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("these are no objects of Kubernetes: %w", err)
	}
	if strings.HasSuffix(list.Kind, "List") {
		return list.Items, nil
	}
	return []json.RawMessage{text}, nil
}

// Records are what pools and reservations say together. An address that they do not agree on has a problem.
func Records(objects []json.RawMessage) ([]Record, error) {
	var inPools []Record
	reserved := map[netip.Addr]Record{}
	var records []Record
	for _, text := range objects {
		var o object
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("this is no object of Kubernetes: %w", err)
		}
		if o.APIVersion != group+"/"+version {
			continue
		}
		source := o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
		switch o.Kind {
		case kindPool:
			inPools = append(inPools, o.allocations(source)...)
		case kindReservation:
			if r := o.reservation(source); r.Problem != "" {
				records = append(records, r)
			} else {
				reserved[r.Address] = r
			}
		}
	}
	records = append(records, agree(inPools, reserved)...)
	slices.SortFunc(records, func(a, b Record) int { return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Source, b.Source)) })
	return records, nil
}

// allocations are those of a pool.
func (o *object) allocations(source string) (records []Record) {
	at, err := netip.ParsePrefix(o.Spec.Range)
	if err != nil {
		return []Record{{Source: source, Problem: fmt.Sprintf("its range %q is no CIDR", o.Spec.Range)}}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Spec.Allocations)) {
		r := o.Spec.Allocations[key].record(source + "[" + key + "]")
		if r.Address = offset(at, key); !r.Address.IsValid() {
			r.Problem = fmt.Sprintf("%q is no place in %s", key, o.Spec.Range)
		}
		records = append(records, r)
	}
	return records
}

// offset is the address so far behind that of a range, if it is within.
func offset(at netip.Prefix, key string) netip.Addr {
	n, ok := new(big.Int).SetString(key, 10)
	if !ok || n.Sign() < 0 {
		return netip.Addr{}
	}
	bytes := at.Addr().AsSlice()
	n.Add(n, new(big.Int).SetBytes(bytes))
	if n.BitLen() > 8*len(bytes) {
		return netip.Addr{}
	}
	address, _ := netip.AddrFromSlice(n.FillBytes(bytes))
	if !at.Contains(address) {
		return netip.Addr{}
	}
	return address
}

// reservation is the address of a reservation, which is its name: behind that of a network, if it has one, and with dashes in place of colons.
func (o *object) reservation(source string) Record {
	r := o.Spec.record(source)
	name := o.Metadata.Name
	for {
		for _, text := range []string{name, strings.ReplaceAll(name, "-", ":")} {
			if address, err := netip.ParseAddr(text); err == nil {
				r.Address = address
				return r
			}
		}
		var more bool
		if _, name, more = strings.Cut(name, "-"); !more {
			r.Problem = "its name has no address"
			return r
		}
	}
}

// record is what a holder says, without the address.
func (h holder) record(source string) Record {
	r := Record{Source: source, Interface: h.Interface}
	namespace, name, ok := strings.Cut(h.Pod, "/")
	switch {
	case h.Claim != "":
		r.Problem = fmt.Sprintf("it belongs to the IPAMClaim %s, and not to a pod", h.Claim)
	case !ok || namespace == "" || name == "" || strings.Contains(name, "/"):
		r.Problem = fmt.Sprintf("%q names no pod", h.Pod)
		return r
	}
	r.Pod = types.NamespacedName{Namespace: namespace, Name: name}
	return r
}

// agree answers the allocations, and the reservations that none of them has. What is said of an address twice must be the same.
func agree(allocations []Record, reserved map[netip.Addr]Record) (records []Record) {
	by := map[netip.Addr][]Record{}
	for _, r := range allocations {
		if r.Problem != "" {
			records = append(records, r)
			continue
		}
		by[r.Address] = append(by[r.Address], r)
	}
	for address, r := range reserved {
		if len(by[address]) == 0 {
			r.Problem = "it is reserved, and in no pool"
			records = append(records, r)
		}
	}
	for address, all := range by {
		r := all[0]
		if reservation, ok := reserved[address]; ok {
			all = append(all, reservation)
		}
		for _, other := range all[1:] {
			if other.Pod != r.Pod {
				r.Problem = fmt.Sprintf("%s says that %s has it", other.Source, other.Pod)
			}
		}
		records = append(records, r)
	}
	return records
}
