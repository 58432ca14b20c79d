package conform

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// senses make bodies that also follow the rules that no schema expresses. So their response must not be 400. project is the project in the path.
var senses = map[string]func(w *world, project, path string) obj{
	"createProject": func(w *world, _, _ string) obj {
		return obj{"metadata": w.metadata("t"), "spec": w.some(obj{"displayName": w.phrase("ProjectSpec", "displayName"), "description": w.description()})}
	},
	"createSpace": func(w *world, _, _ string) obj {
		return obj{"metadata": w.metadata("s"), "spec": w.some(obj{"description": w.description()})}
	},
	"createPool": func(w *world, project, _ string) obj {
		return obj{"metadata": w.metadata("p"), "spec": w.pool(project)}
	},
	"createClass": func(w *world, project, _ string) obj {
		return obj{"metadata": w.metadata("c"), "spec": w.class(project)}
	},
	"createClaim": func(w *world, project, _ string) obj {
		return obj{"metadata": w.metadata("b"), "spec": w.claim(project)}
	},
	"createClaimBatch": func(w *world, project, _ string) obj {
		var claims []any
		for range 1 + w.IntN(4) {
			spec := w.claim(project)
			if delete(spec, "allocationRef"); len(spec) == 0 { // a claim in a batch must not be empty
				spec["prefixLength"] = 30
			}
			claims = append(claims, obj{"metadata": w.metadata("m"), "spec": spec})
		}
		return obj{"claims": claims}
	},
	"releaseClaims": func(w *world, _, _ string) obj {
		return obj{"select": obj{"owner": "Cluster/" + w.fresh("nobody")}, "createdBefore": time.Now().UTC().Format(time.RFC3339Nano)}
	},
	"putConsumer":    func(w *world, _, _ string) obj { return obj{"spec": w.consumer()} },
	"attachConsumer": func(w *world, _, _ string) obj { return w.consumer() },
	"renewConsumers": func(w *world, _, _ string) obj {
		return obj{"realm": realm, "consumers": append(w.names(tenant, "realms/"+realm+"/consumers"), w.fresh("unknown")), "ttlSeconds": 3600}
	},
	"createAlertRule": func(w *world, _, _ string) obj {
		spec := w.some(obj{"className": w.fresh("class"), "labelSelector": "env=prod"})
		spec["about"], spec["resourceName"] = "Pools", w.fresh("name") // no alert begins during a run
		if w.one(2) {
			spec["percent"] = 1 + w.IntN(100)
		} else {
			spec["runway"] = "168h"
		}
		return obj{"metadata": w.metadata("a"), "spec": spec}
	},
	"patchAlertRule": func(w *world, _, _ string) obj {
		patch := w.patch(obj{"resourceName": w.fresh("name"), "labelSelector": "env in (prod,test)"})
		if spec, ok := patch["spec"].(obj); ok && w.one(2) {
			spec["percent"], spec["runway"] = 1+w.IntN(100), nil // one of them must be set
		}
		return patch
	},
	"createWebhook": func(w *world, _, _ string) obj {
		spec := w.some(obj{"resourceKinds": []any{"IPClaim"}, "resourceName": "web-eu", "labelSelector": "env=prod"})
		spec["url"], spec["paused"] = "https://receiver.example/"+w.fresh("path"), true // no message is sent during a run
		return obj{"metadata": w.metadata("h"), "spec": spec}
	},
	"patchWebhook": func(w *world, _, _ string) obj {
		return w.patch(obj{"resourceName": w.fresh("name"), "labelSelector": "env in (prod,test)", "resourceKinds": []any{"IPPool"}})
	},
	"explainClaim": func(w *world, project, _ string) obj { return obj{"spec": w.claim(project)} },
	"createApiKey": func(w *world, _, _ string) obj {
		spec := w.some(obj{"description": w.description(), "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)})
		spec["role"] = pick(w.random, roles)
		return obj{"metadata": w.metadata("k"), "spec": spec}
	},
	"putMember": func(w *world, _, _ string) obj { return obj{"spec": obj{"role": pick(w.random, roles)}} },
	"putQuota": func(w *world, project, path string) obj {
		spec := obj{"limits": w.limits()}
		if name := path[strings.LastIndex(path, "/")+1:]; len(name)%2 == 0 { // the scope of a quota never changes, so the name decides it
			spec["scope"] = obj{"ipFamily": "IPv6"}
		}
		if w.one(2) {
			spec["description"] = w.description()
		}
		return obj{"spec": spec}
	},
	"putClaim": func(w *world, project, path string) obj {
		out := obj{"spec": w.claim(project)}
		if w.one(2) {
			out["metadata"] = obj{"name": path[strings.LastIndex(path, "/")+1:], "labels": w.labels()}
		}
		return out
	},
	"patchProject": func(w *world, _, _ string) obj {
		return w.patch(obj{"displayName": w.phrase("ProjectSpec", "displayName"), "description": w.description()})
	},
	"patchSpace": func(w *world, _, _ string) obj { return w.patch(obj{"description": w.description()}) },
	"patchPool": func(w *world, _, _ string) obj {
		return w.patch(obj{"description": w.description(), "reuseAfter": w.duration(), "visibility": pick(w.random, []string{"consumer", "shared"})})
	},
	"patchClass": func(w *world, _, _ string) obj {
		return w.patch(obj{"description": w.description(), "strategy": pick(w.random, []string{"FirstFit", "BestFit", "Random", "Sparse"}), "reclaimPolicy": "Delete"})
	},
	"patchClaim": func(w *world, _, _ string) obj {
		return w.patch(obj{"reclaimPolicy": pick(w.random, []string{"Delete", "Retain"})})
	},
}

func (w *world) metadata(prefix string) obj {
	out := w.some(obj{"labels": w.labels(), "annotations": w.annotations()})
	if w.one(6) {
		out["generateName"] = prefix + "-"
	} else {
		out["name"] = w.fresh(prefix)
	}
	return out
}

func (w *world) labels() obj {
	return w.some(obj{"env": pick(w.random, []string{"prod", "test", ""}), "example.com/tier": "web", "A_b.c": strings.Repeat("z", 63)})
}

func (w *world) annotations() obj {
	return w.some(obj{"note": w.phrase("ProjectSpec", "description"), "example.com/ticket": "日本語 😀\n\t\u202e"})
}

// phrase returns a free text for a member of a schema. It is short enough that its bytes stay within the limit for characters.
func (w *world) phrase(schema, member string) string {
	s := contract().doc.Components.Schemas[schema].Value.Properties[member].Value
	text := w.text(s)
	for len(text) > int(*s.MaxLength) {
		text = strings.ToValidUTF8(text[:len(text)/2], "")
	}
	return text
}

// consumer returns the fields of a consumer that does not expire during a run.
func (w *world) consumer() obj {
	return w.some(obj{"kind": "VM", "name": w.phrase("IPConsumerSpec", "name"), "ttlSeconds": 3600})
}

func (w *world) description() string { return w.phrase("SpaceSpec", "description") }

// duration returns a cool-down that does not end during a run. Otherwise the service could free a block by itself while requests run that must write
// nothing.
func (w *world) duration() string {
	return pick(w.random, []string{"0s", "1h30m", "8760h", "3645s", "525600m"})
}

func (w *world) limits() obj {
	out := w.some(obj{"claims": 100000 + w.IntN(9), "pools": int64(9007199254740991), "addresses": "340282366920938463463374607431768211456"})
	if len(out) == 0 {
		out["claims"] = 100000
	}
	return out
}

// pool returns the spec of a pool that probably succeeds. It is a child, or a root in its own address range.
func (w *world) pool(project string) obj {
	spec := w.some(obj{
		"description": w.description(), "reuseAfter": w.duration(), "visibility": pick(w.random, []string{"consumer", "shared"}),
		"allocation": obj{"strategy": pick(w.random, []string{"FirstFit", "BestFit", "Random", "Sparse"})},
	})
	if parents := w.names(project, "pools"); len(parents) > 0 && w.one(3) {
		spec["parentRef"], spec["prefixLength"] = obj{"name": pick(w.random, parents)}, 26+w.IntN(5)
		return spec
	}
	w.serial++
	if w.one(4) {
		spec["cidr"] = fmt.Sprintf("2001:db8:%x::/48", w.serial)
		return spec
	}
	spec["cidr"] = fmt.Sprintf("10.%d.%d.0/20", w.serial/16%256, w.serial%16*16)
	if w.one(3) {
		spec["reservations"] = []any{obj{"first": 1 + w.IntN(16), "reason": "é"}, obj{"last": 1}}
	}
	if w.one(8) {
		spec["region"], spec["regions"] = home, []any{home, "eu"}
	}
	if classes := w.names(project, "classes"); len(classes) > 0 && w.one(2) {
		spec["classNames"] = []any{pick(w.random, classes)}
	}
	return spec
}

func (w *world) class(project string) obj {
	spec := w.some(obj{
		"provisioner": "native", "strategy": "FirstFit", "reclaimPolicy": pick(w.random, []string{"Delete", "Retain"}), "reuseAfter": w.duration(), "description": w.description(),
		"poolSelection": pick(w.random, []string{"FirstFit", "LeastUtilized"}), "parameters": obj{"example.com/tier": "gold"}, "defaultPrefixLength": 28,
		"allowedPrefixLengths": obj{"min": 24, "max": 30},
	})
	spec["ipFamily"] = pick(w.random, []string{"IPv4", "IPv4", "IPv6"})
	if w.one(6) {
		spec["isDefault"] = true
	}
	if w.one(5) {
		delete(spec, "allowedPrefixLengths")
		spec["poolPer"], spec["poolPrefixLength"], spec["defaultPrefixLength"] = []any{"project", "cluster"}, 24, 28
	} else if spec["ipFamily"] == "IPv6" {
		delete(spec, "allowedPrefixLengths")
		spec["defaultPrefixLength"] = 64
	}
	_ = project
	return spec
}

func (w *world) claim(project string) obj {
	spec := w.some(obj{"ownerRef": obj{"kind": "Cluster", "name": w.phrase("OwnerRef", "name")}, "reclaimPolicy": pick(w.random, []string{"Delete", "Delete", "Retain"})})
	pools, classes := w.names(project, "pools"), w.names(project, "classes")
	switch n := w.IntN(10); {
	case n < 5 && len(pools) > 0:
		spec["poolRef"] = obj{"name": pick(w.random, pools)}
		switch w.IntN(4) {
		case 0:
			spec["address"] = netip.AddrFrom4([4]byte{10, byte(w.IntN(8)), byte(w.IntN(256)), byte(w.IntN(256))}).String()
		case 1:
			spec["cidr"] = fmt.Sprintf("10.%d.%d.0/28", w.IntN(8), w.IntN(256))
		default:
			spec["prefixLength"] = 27 + w.IntN(6)
		}
	case n < 8 && len(classes) > 0:
		spec["className"], spec["scope"] = pick(w.random, classes), obj{"cluster": pick(w.random, []string{"a", "b"})}
		spec["prefixLength"] = 28 // a class may have no default length
	case n < 9:
		spec["poolSelector"], spec["prefixLength"] = obj{"matchLabels": obj{"env": "prod"}}, 30
		if w.one(2) {
			spec["poolSelector"] = obj{"matchExpressions": []any{obj{"key": "env", "operator": "In", "values": []any{"prod", "test"}}, obj{"key": "x", "operator": "DoesNotExist"}}}
		}
	default:
		if refs := w.names(project, "allocations"); len(refs) > 0 && w.one(2) {
			spec["allocationRef"] = obj{"name": pick(w.random, refs)}
			break
		}
		spec["prefixLength"], spec["ipFamily"] = 30, "IPv4"
	}
	return spec
}

// patch returns a merge patch for some members of a spec and for the metadata.
func (w *world) patch(spec obj) obj {
	spec = w.some(spec)
	for _, name := range sorted(spec) {
		if w.one(5) {
			spec[name] = nil
		}
	}
	metadata := w.some(obj{"labels": obj{"env": "prod", "gone": nil}, "annotations": w.annotations()})
	return w.some(obj{"metadata": metadata, "spec": spec})
}

// sense returns a sensible request with some of its parameters. ok is false if no object exists for it yet.
func (w *world) sense(op *operation) (*request, bool) {
	path, ok := w.place(op)
	if !ok {
		return nil, false
	}
	r := w.plain(op, path)
	r.kind = "valid: with sense"
	if body := senses[op.id]; body != nil {
		r.body = mustJSON(body(w, projectOf(path), path))
	}
	for _, p := range op.in(openapi3.ParameterInQuery) {
		if text := w.parameter(projectOf(path), p); p.Name != "dryRun" && text != "" && (p.Required || w.one(4)) {
			r.with(p.Name, text)
		}
	}
	// An admin of the project may not change quotas that the platform made.
	if p := tenant; projectOf(path) == p && w.one(3) && op.permission() != "projects.delete" && op.permission() != "quotas.write" && op.id != "createProject" {
		r.token = w.tokens[p]["admin"]
	}
	return r, true
}

// parameter returns a sensible value of a query parameter. It returns "" if the parameter should not be sent.
func (w *world) parameter(project string, p *openapi3.Parameter) string {
	s := flat(p.Schema.Value)
	switch p.Name {
	case "cursor", "after": // its value comes from a response
		return ""
	case "waitSeconds":
		return "0"
	case "resourceKind":
		return pick(w.random, []string{"IPClaim", "IPPool", "Quota"})
	case "labelSelector":
		return pick(w.random, []string{"env=prod", "env in (prod,test),!x", "env!=prod", "x", "example.com/tier==web", "env notin (a)"})
	case "within":
		return pick(w.random, []string{"10.0.0.0/8", "::/0", "0.0.0.0/0", "2001:db8::/32"})
	case "contains", "address":
		return pick(w.random, []string{"10.0.0.1", "10.0.16.255", "2001:db8::1", "::"})
	case "since": // earlier than each value of until
		return pick(w.random, []string{"1985-08-13T06:20:06-02:19", "2001-02-03T04:05:06.000000007Z"})
	case "until":
		return pick(w.random, []string{"2011-06-24T16:39:18.21Z", "2099-12-31T23:59:59+14:00"})
	case "prefixLength":
		return "32"
	case "pool", "parent":
		return pick(w.random, append(w.names(project, "pools"), "nobody/nothing", "nothing"))
	case "space":
		return pick(w.random, append(w.names(project, "spaces"), "default"))
	case "class":
		return pick(w.random, append(w.names(project, "classes"), "nothing"))
	}
	switch value := w.value(s).(type) {
	case string:
		return value
	default:
		return string(mustJSON(value))
	}
}
