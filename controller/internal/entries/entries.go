// Package entries reads what a pod asks for, and writes what it is told.
package entries

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	strict "sigs.k8s.io/json"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Entry is one claim that a pod asks for.
type Entry struct {
	// Name tells it from the pod's other entries.
	Name string `json:"name"`
	// Template makes a claim of the pod's own.
	Template string `json:"template,omitempty"`
	// Claim is one that is there, and may be of several pods.
	Claim string `json:"claim,omitempty"`
	// Interface is the pod's interface that is to have the address, as its network status tells it.
	Interface string `json:"interface,omitempty"`
}

// most is how many entries a pod may have.
const most = 32

// Of answers the entries of a pod. What it does not know of them is an error: a later version may mean something by it.
func Of(pod client.Object) ([]Entry, error) {
	text, asks := pod.GetAnnotations()[ipam.ClaimsAnnotation]
	if !asks {
		return nil, nil
	}
	var all []Entry
	unknown, err := strict.UnmarshalStrict([]byte(text), &all)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w", ipam.ClaimsAnnotation, err)
	}
	if len(all) > most {
		return nil, fmt.Errorf("%s: %d entries are more than %d", ipam.ClaimsAnnotation, len(all), most)
	}
	names := map[string]bool{}
	for _, e := range all {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: entry %q: %w", ipam.ClaimsAnnotation, e.Name, err)
		}
		if names[e.Name] {
			return nil, fmt.Errorf("%s: entry %q is there twice", ipam.ClaimsAnnotation, e.Name)
		}
		names[e.Name] = true
	}
	return all, nil
}

func (e Entry) check() error {
	if len(validation.IsDNS1123Label(e.Name)) > 0 {
		return errors.New("name must be of at most 63 lower case letters, digits and hyphens")
	}
	if (e.Template == "") == (e.Claim == "") {
		return errors.New("exactly one of template and claim is needed")
	}
	if len(validation.IsDNS1123Subdomain(e.Template+e.Claim)) > 0 {
		return errors.New("there is no such name of a template or a claim")
	}
	return nil
}

// Outcome is what came of an entry.
type Outcome struct {
	// Claim is the IPClaim.
	Claim string `json:"claim"`
	// CIDR is the block, once it is held for the pod.
	CIDR string `json:"cidr,omitempty"`
	// Address is the address, when the block is a single one.
	Address string `json:"address,omitempty"`
	// Kept says that the pod does not ask for the claim any more, and keeps it until it ends, as it may use the block.
	Kept bool `json:"kept,omitempty"`
}

// Outcomes are what came of a pod's entries, by their names.
type Outcomes map[string]Outcome

// Told answers what a pod was told. What cannot be read was not told.
func Told(pod client.Object) Outcomes {
	told := Outcomes{}
	if json.Unmarshal([]byte(pod.GetAnnotations()[ipam.StatusAnnotation]), &told) != nil {
		return Outcomes{}
	}
	return told
}

// String is what a pod is told.
func (o Outcomes) String() string {
	text, err := json.Marshal(o)
	if err != nil { // texts always have a form
		return ""
	}
	return string(text)
}
