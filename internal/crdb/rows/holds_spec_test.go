package rows

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// If isEmptySpec ignored a field of the spec, and a spec had only that field, the field would be lost.
func TestSpecWithAnyFieldIsStored(t *testing.T) {
	t.Parallel()
	require.True(t, isEmptySpec(&ipam.ClaimSpec{}))
	structs := map[reflect.Type]any{
		reflect.TypeFor[ipam.Ref]():     ipam.Ref{Name: "p"},
		reflect.TypeFor[netip.Prefix](): netip.MustParsePrefix("10.0.0.0/8"),
		reflect.TypeFor[netip.Addr]():   netip.MustParseAddr("10.0.0.1"),
	}
	for field := range reflect.TypeFor[ipam.ClaimSpec]().Fields() {
		if field.Tag.Get("json") == "-" { // this field is not stored
			continue
		}
		var s ipam.ClaimSpec
		f := reflect.ValueOf(&s).Elem().FieldByIndex(field.Index)
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(1)
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			f.Set(reflect.ValueOf(structs[f.Type()]))
		}
		require.False(t, isEmptySpec(&s), field.Name)
	}
}
