// Package whereabouts imports the pods' addresses from whereabouts, or from another program with the same records. The records are IPPools with a map
// of allocations, and an OverlappingRangeIPReservation for each address.
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

// Object kinds to read.
const (
	group           = "whereabouts.cni.cncf.io"
	version         = "v1alpha1"
	kindPool        = "IPPool"
	kindReservation = "OverlappingRangeIPReservation"
)

// object has the relevant fields of both kinds.
type object struct {
	meta.TypeMeta `json:",inline"`
	Metadata      meta.ObjectMeta `json:"metadata"`
	Spec          struct {
		// Range and Allocations belong to a pool. The keys in Allocations are offsets from Range's address.
		Range       string            `json:"range"`
		Allocations map[string]holder `json:"allocations"`
		// holder belongs to a reservation.
		holder
	} `json:"spec"`
}

// holder is an address's owner.
type holder struct {
	Pod       string `json:"podref"`
	Interface string `json:"ifname"`
	Claim     string `json:"ipamclaimref"`
}

// Record is an address and its recorded owner.
type Record struct {
	// Address is the recorded address. If the record has no readable address, Address is invalid and Problem gives the reason.
	Address netip.Addr
	// Pod is the pod that has the address.
	Pod types.NamespacedName
	// Interface is the pod's interface. It may be unknown.
	Interface string
	// Source names the object with the record.
	Source string
	// Problem is the reason why the record cannot be imported, whatever the pod's status contains.
	Problem string
}

// Objects returns the objects in the output of `kubectl get -o json`, which is one object or a list.
func Objects(text []byte) ([]json.RawMessage, error) {
	var list struct {
		meta.TypeMeta `json:",inline"`
		Items         []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the file has no Kubernetes objects: %w", err)
	}
	if strings.HasSuffix(list.Kind, "List") {
		return list.Items, nil
	}
	return []json.RawMessage{text}, nil
}

// Records merges pools and reservations into records. It skips other kinds. If the records of an address contradict each other, Problem describes the
// contradiction.
func Records(objects []json.RawMessage) ([]Record, error) {
	var inPools []Record
	reserved := map[netip.Addr]Record{}
	var records []Record
	for _, text := range objects {
		var o object
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("not a Kubernetes object: %w", err)
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

// allocations returns a pool's records.
func (o *object) allocations(source string) (records []Record) {
	at, err := netip.ParsePrefix(o.Spec.Range)
	if err != nil {
		return []Record{{Source: source, Problem: fmt.Sprintf("its range %q is not a CIDR", o.Spec.Range)}}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Spec.Allocations)) {
		r := o.Spec.Allocations[key].record(source + "[" + key + "]")
		if r.Address = offset(at, key); !r.Address.IsValid() {
			r.Problem = fmt.Sprintf("%q is not an index in %s", key, o.Spec.Range)
		}
		records = append(records, r)
	}
	return records
}

// offset returns the address at an offset from a range's address. If that address is outside the range, offset returns an invalid address.
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

// reservation returns a reservation's record. The address is in the object's name, with dashes instead of colons. A network's name may precede the
// address.
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
			r.Problem = "its name contains no address"
			return r
		}
	}
}

// record converts a holder to a record without an address.
func (h holder) record(source string) Record {
	r := Record{Source: source, Interface: h.Interface}
	namespace, name, ok := strings.Cut(h.Pod, "/")
	switch {
	case h.Claim != "":
		r.Problem = fmt.Sprintf("it belongs to the IPAMClaim %s, not to a pod", h.Claim)
	case !ok || namespace == "" || name == "" || strings.Contains(name, "/"):
		r.Problem = fmt.Sprintf("%q does not name a pod", h.Pod)
		return r
	}
	r.Pod = types.NamespacedName{Namespace: namespace, Name: name}
	return r
}

// agree merges the allocations and reservations of each address into one record. If an address has no allocation, or its records name different pods,
// the record has a problem.
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
			r.Problem = "it is reserved but in no pool"
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
				r.Problem = fmt.Sprintf("%s names %s as its holder", other.Source, other.Pod)
			}
		}
		records = append(records, r)
	}
	return records
}
