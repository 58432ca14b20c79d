package patch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Helper has a copy of an object as it was read, and writes the changes that a caller makes.
type Helper struct {
	writer client.Client
	before map[string]any
}

// NewPatchHelper copies an object that the caller has read from the API server or its cache. Call it before the first change.
func NewPatchHelper(object client.Object, writer client.Client) (*Helper, error) {
	if object.GetUID() == "" {
		return nil, errors.New("patch: the object has no UID, so it was not read from an API server")
	}
	before, err := fields(object)
	return &Helper{writer: writer, before: before}, err
}

// HasChanges reports whether Patch would send a request.
func (h *Helper) HasChanges(object client.Object) (bool, error) {
	after, err := fields(object)
	return err == nil && len(metadataAndSpec(h.before, after))+len(status(h.before, after)) > 0, err
}

// Option is a rule for one call to Patch.
type Option func(*options)

type options struct{ while [][]string }

// While lets Patch write only if this field still has the value that was read. The path consists of JSON names: While("status", "claim").
func While(path ...string) Option {
	return func(o *options) { o.while = append(o.while, path) }
}

// Patch writes the changes that the caller has made to the object: metadata and spec first, then the status. If it has written anything, the
// object becomes the API server's version, and the next Patch compares with that version.
func (h *Helper) Patch(ctx context.Context, object client.Object, rules ...Option) error {
	var o options
	for _, rule := range rules {
		rule(&o)
	}
	after, err := fields(object)
	if err != nil {
		return err
	}
	written := object
	if changes := metadataAndSpec(h.before, after); len(changes) > 0 {
		if written, err = h.send(ctx, object, changes, o, h.writer.Patch); err != nil {
			return err
		}
		if err := h.begin(written, h.before[statusField]); err != nil {
			return err
		}
	}
	gone := written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0
	if changes := status(h.before, after); len(changes) > 0 && !gone {
		send := func(ctx context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
			return h.writer.Status().Patch(ctx, o, p)
		}
		if written, err = h.send(ctx, object, changes, o, send); err != nil {
			return err
		}
	}
	if written == object {
		return nil
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(written).Elem())
	now, err := fields(object)
	h.before = now
	return err
}

// Change calls a function that changes an object, and writes the differences.
func Change(ctx context.Context, writer client.Client, object client.Object, change func(), rules ...Option) error {
	helper, err := NewPatchHelper(object, writer)
	if err != nil {
		return err
	}
	change()
	return helper.Patch(ctx, object, rules...)
}

// begin makes a written object the base of the next comparison. The base keeps the given status, because Patch has not written the status yet.
func (h *Helper) begin(written client.Object, status any) error {
	now, err := fields(written)
	if err != nil {
		return err
	}
	if now[statusField] = status; status == nil {
		delete(now, statusField)
	}
	h.before = now
	return nil
}

// send sends one request, and returns the object in the response.
func (h *Helper) send(ctx context.Context, object client.Object, changes operations, o options,
	send func(context.Context, client.Object, client.Patch, ...client.PatchOption) error,
) (client.Object, error) {
	all := operations{test("/metadata/uid", string(object.GetUID()))}
	for _, path := range o.while {
		all = append(all, unchanged(h.before, path))
	}
	text, err := json.Marshal(append(all, changes...))
	if err != nil {
		return nil, err
	}
	// A new object receives the response. Decoding into the old object would keep fields that the server does not have.
	fresh, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
	if !ok {
		return nil, fmt.Errorf("patch: %T is no pointer to an object", object)
	}
	kind := object.GetObjectKind().GroupVersionKind()
	fresh.GetObjectKind().SetGroupVersionKind(kind)
	fresh.SetNamespace(object.GetNamespace())
	fresh.SetName(object.GetName())
	if err := send(ctx, fresh, client.RawPatch(types.JSONPatchType, text)); err != nil {
		return nil, h.conflict(object, err)
	}
	fresh.GetObjectKind().SetGroupVersionKind(kind)
	return fresh, nil
}

// conflict turns an error into a conflict if a test operation of the JSON patch has failed. In that case the API server returns 422, the same status
// as for an invalid object, but it names no field.
func (h *Helper) conflict(object client.Object, err error) error {
	answer, ok := errors.AsType[*api.StatusError](err)
	if !ok || answer.ErrStatus.Reason != meta.StatusReasonInvalid || answer.ErrStatus.Details != nil && len(answer.ErrStatus.Details.Causes) > 0 {
		return err
	}
	kind, failed := apiutil.GVKForObject(object, h.writer.Scheme())
	if failed != nil {
		return errors.Join(err, failed)
	}
	return api.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, object.GetName(),
		fmt.Errorf("a field was changed since the object was read: %w", err))
}

// fields returns an object's JSON fields.
func fields(object client.Object) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	all := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return all, nil
}
