package nodes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// view is the state that one reconciliation has read for a NodeSlicePool.
type view struct {
	wanted  []*meta.PartialObjectMetadata             // nodes that need a slice, by name
	known   map[types.UID]*meta.PartialObjectMetadata // all nodes in the cache
	slices  map[types.UID]*carve.IPPool               // the class's slices, by their nodes' UIDs
	without []string                                  // nodes without a slice
	full    string                                    // the reason why Carve had no room for a slice, or ""
	stays   []string                                  // slices in another project, which the controller cannot drain
	changed bool                                      // whether slices were created or deleted since the controller read the class
	wait    time.Duration                             // the time until the next missing node's slice may be drained, at most Every
}

// readView reads the nodes and lists all slices of the class. The selector selects the nodes that need a slice.
func (r *Reconciler) readView(ctx context.Context, p *ipam.NodeSlicePool, selector labels.Selector) (*view, error) {
	v := &view{known: map[types.UID]*meta.PartialObjectMetadata{}, slices: map[types.UID]*carve.IPPool{}, wait: r.Every}
	nodes := nodeList()
	if err := r.Client.List(ctx, nodes); err != nil {
		return nil, err
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		v.known[node.UID] = node
		if selector.Matches(labels.Set(node.Labels)) && node.DeletionTimestamp.IsZero() {
			delete(r.gone, missed{p.UID, node.UID})
			v.wanted = append(v.wanted, node)
		}
	}
	slices.SortFunc(v.wanted, func(a, b *meta.PartialObjectMetadata) int { return strings.Compare(a.Name, b.Name) })
	const page = 500
	limit, role := page, string(p.Spec.Role)
	for slice, err := range r.Realm.Carve.ScopePools(ctx, r.Realm.Project, string(p.Spec.ClassName), carve.ListScopePoolsParams{Limit: &limit}) {
		if err != nil {
			return nil, err
		}
		if scope := slice.Status.Scope; scope != nil && scope.Values[role] != "" && within(scope.Values, p.Spec.Scope) {
			v.slices[types.UID(scope.Values[role])] = &slice
		}
	}
	return v, nil
}

// selectorOf returns the selector for a NodeSlicePool's nodes.
func selectorOf(p *ipam.NodeSlicePool) (labels.Selector, error) {
	if p.Spec.NodeSelector == nil {
		return labels.Everything(), nil
	}
	selector, err := meta.LabelSelectorAsSelector(p.Spec.NodeSelector)
	if err != nil {
		return nil, fmt.Errorf("spec.nodeSelector is invalid, and no slice changes until it is valid: %w", err)
	}
	return selector, nil
}

func nodeList() *meta.PartialObjectMetadataList {
	list := &meta.PartialObjectMetadataList{}
	list.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("NodeList"))
	return list
}

// within reports whether the values of a slice's scope include all roles and values of the given scope.
func within(values map[string]string, scope map[string]ipam.ScopeValue) bool {
	for role, value := range scope {
		if values[role] != string(value) {
			return false
		}
	}
	return true
}

// scopeOf returns the scope for a node's slice in Carve's notation.
func scopeOf(spec *ipam.NodeSlicePoolSpec, uid types.UID) string {
	all := []string{string(spec.Role) + "=" + string(uid)}
	for role, value := range spec.Scope {
		all = append(all, role+"="+string(value))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// others returns the other NodeSlicePools with the same class.
func (r *Reconciler) others(ctx context.Context, p *ipam.NodeSlicePool) (others []*ipam.NodeSlicePool, err error) {
	var all ipam.NodeSlicePoolList
	if err := r.Client.List(ctx, &all); err != nil {
		return nil, err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID != p.UID && other.DeletionTimestamp.IsZero() && other.Spec.ClassName == p.Spec.ClassName {
			others = append(others, other)
		}
	}
	return others, nil
}

// peers returns the other NodeSlicePools with the same class and scope.
func (r *Reconciler) peers(ctx context.Context, p *ipam.NodeSlicePool) ([]*ipam.NodeSlicePool, error) {
	others, err := r.others(ctx, p)
	return slices.DeleteFunc(others, func(other *ipam.NodeSlicePool) bool { return !maps.Equal(other.Spec.Scope, p.Spec.Scope) }), err
}

// disagreeing returns a message if NodeSlicePools with the same class and scope have different specifications. Otherwise one of them would drain the
// slices that another one creates.
func (r *Reconciler) disagreeing(ctx context.Context, p *ipam.NodeSlicePool) (string, error) {
	peers, err := r.peers(ctx, p)
	names := []string{p.Name}
	for _, other := range peers {
		if !equality.Semantic.DeepEqual(other.Spec, p.Spec) {
			names = append(names, other.Name)
		}
	}
	if len(names) == 1 {
		return "", err
	}
	slices.Sort(names)
	return fmt.Sprintf("%s disagree about the slices of class %s: no slice changes until their specs are equal", strings.Join(names, " and "), p.Spec.ClassName), err
}

// misfit returns the reason why a class cannot provide slices for nodes, or "".
func misfit(p *ipam.NodeSlicePoolSpec, class *carve.IPClassSpec) string {
	if !slices.Contains(class.PoolPer, string(p.Role)) {
		return fmt.Sprintf("class %s has no role %s in its poolPer", p.ClassName, p.Role)
	}
	for _, role := range class.PoolPer {
		if _, given := p.Scope[role]; !given && role != string(p.Role) && role != "project" {
			return fmt.Sprintf("class %s requires the role %s: set it in scope", p.ClassName, role)
		}
	}
	if p.PrefixLength != nil && int(*p.PrefixLength) != *class.PoolPrefixLength {
		return fmt.Sprintf("class %s has slices of /%d, not /%d: no slice changes; create another class for another length",
			p.ClassName, *class.PoolPrefixLength, *p.PrefixLength)
	}
	return ""
}
