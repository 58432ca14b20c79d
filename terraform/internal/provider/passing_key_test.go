package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEphemeralKeyWithALostTokenIsReplaced(t *testing.T) {
	t.Setenv("CARVE_CONFIG", t.TempDir()+"/none")
	var made []string // the name in each POST
	var deleted, revision string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			deleted, revision = path.Base(r.URL.Path), r.Header.Get("If-Match")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		var body struct{ Metadata struct{ Name string } }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		made = append(made, body.Metadata.Name)
		token := ""
		switch len(made) {
		case 1:
			panic(http.ErrAbortHandler) // the client gets no response
		case 3:
			token = `,"token":"carve_x"`
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"metadata":{"name":%q,"revision":"r"},"status":{"keyId":"id"}%s}`, body.Metadata.Name, token)
	}))
	defer server.Close()
	of := (&field{form: object, fields: passingFields()}).attrType().TerraformType(t.Context())
	config, err := tfprotov6.NewDynamicValue(of, write(t.Context(), passingFields(), values{"role": "viewer"}))
	require.NoError(t, err)
	key, err := serving(t, server.URL).OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: "carve_api_key", Config: &config})
	require.NoError(t, err)
	require.Empty(t, key.Diagnostics)
	result, err := key.Result.Unmarshal(of)
	require.NoError(t, err)
	assert.Equal(t, "carve_x", read(result)["token"])
	require.Len(t, made, 3)
	assert.Equal(t, made[2], read(result)["name"])
	assert.Equal(t, made[0], deleted)
	assert.Equal(t, `"r"`, revision)
}
