package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

type obj = map[string]any

// request returns the HTTP request of a create operation.
func (o *Op) request(patience time.Duration) request {
	q := request{method: http.MethodPost, path: at("claims"), patience: patience}
	if o.Keyed {
		q.key = "key-" + o.ID()
	}
	spec := obj{"poolRef": obj{"name": o.Pool}, "reclaimPolicy": "Delete"}
	if o.Block.IsValid() {
		spec["cidr"] = o.Block.String()
	} else {
		spec["prefixLength"] = o.Bits
	}
	named := func(name string) obj { return obj{"metadata": obj{"name": name}, "spec": spec} }
	switch o.Kind {
	case Put:
		q.method, q.path, q.body = http.MethodPut, at("claims", o.Names[0]), obj{"spec": spec}
	case Generated:
		q.body = obj{"metadata": obj{"generateName": o.Names[0] + "-"}, "spec": spec}
	case Batch:
		claims := make([]obj, len(o.Names))
		for i, name := range o.Names {
			claims[i] = named(name)
		}
		q.path, q.body = at("claim-batches"), obj{"claims": claims}
	case Child:
		q.path = at("pools")
		q.body = obj{"metadata": obj{"name": o.Names[0]}, "spec": obj{"parentRef": obj{"name": o.Pool}, "prefixLength": o.Bits}}
	default:
		q.body = named(o.Names[0])
	}
	return q
}

// path returns the path of an object that the operation made.
func (o *Op) path(name string) string {
	if o.Kind == Child {
		return at("pools", name)
	}
	return at("claims", name)
}

func at(parts ...string) string {
	return strings.Join(append([]string{"/v1/projects", project}, parts...), "/")
}

// thing holds the fields of a claim or pool that the harness reads.
type thing struct {
	Metadata struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"metadata"`
	Status struct {
		AllocatedCIDR netip.Prefix `json:"allocatedCIDR"`
	} `json:"status"`
}

// things parses the objects in the response to an operation.
func (o *Op) things(body []byte) ([]thing, error) {
	if o.Kind == Batch {
		var all struct{ Claims []thing }
		err := json.Unmarshal(body, &all)
		if err == nil && len(all.Claims) != len(o.Names) {
			err = fmt.Errorf("%d claims, of %d", len(all.Claims), len(o.Names))
		}
		return all.Claims, err
	}
	var one thing
	err := json.Unmarshal(body, &one)
	return []thing{one}, err
}
