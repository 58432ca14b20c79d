package whereabouts

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is the page size for lists.
const page = 500

// InCluster reads whereabouts' pools and reservations from a cluster. It skips a kind that the cluster does not have.
func InCluster(ctx context.Context, live client.Reader) (objects []json.RawMessage, err error) {
	for _, kind := range []string{kindPool, kindReservation} {
		for more, at := true, ""; more; more = at != "" {
			var list unstructured.UnstructuredList
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind + "List"})
			err := live.List(ctx, &list, client.Limit(page), client.Continue(at))
			if meta.IsNoMatchError(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			for i := range list.Items {
				text, err := list.Items[i].MarshalJSON()
				if err != nil {
					return nil, err
				}
				objects = append(objects, text)
			}
			at = list.GetContinue()
		}
	}
	return objects, nil
}
