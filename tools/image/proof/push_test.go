package proof_test

import (
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/oci"
	"github.com/carve-ipam/carve/tools/image/sbom"
)

// TestPushedImageAndItsBillOfMaterialsAreUnchanged pushes to a registry on loopback and reads the image back as a cluster and a scanner would.
func TestPushedImageAndItsBillOfMaterialsAreUnchanged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true),
		registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
	t.Cleanup(server.Close)
	target := strings.TrimPrefix(server.URL, "http://") + "/carve/carve:" + subject.stamp.Tag()

	pushed, err := oci.Push(t.Context(), filepath.Join(subject.dir, subject.image.Layout()), target)
	require.NoError(t, err)

	want, err := subject.layout.Index.Digest()
	require.NoError(t, err)
	assert.Equal(t, want.String(), pushed.DigestStr())
	index, err := remote.Index(pushed, remote.WithContext(t.Context()))
	require.NoError(t, err)
	images, err := platforms(index)
	require.NoError(t, err)
	for i, img := range images {
		digest, err := img.Digest()
		require.NoError(t, err)
		about, err := remote.Referrers(pushed.Context().Digest(digest.String()), remote.WithContext(t.Context()))
		require.NoError(t, err)
		m, err := about.IndexManifest()
		require.NoError(t, err)
		require.Len(t, m.Manifests, 1)
		document, err := remote.Image(pushed.Context().Digest(m.Manifests[0].Digest.String()), remote.WithContext(t.Context()))
		require.NoError(t, err)
		what, err := document.Manifest()
		require.NoError(t, err)
		assert.Equal(t, sbom.MediaType, what.ArtifactType)
		assert.Equal(t, string(blob(t, subject.layout.Referrers[i])), string(blob(t, document)))
	}
}

func TestPushWithoutATargetIsRefused(t *testing.T) {
	t.Parallel()
	_, err := oci.Push(t.Context(), filepath.Join(subject.dir, subject.image.Layout()), "carve")
	assert.ErrorContains(t, err, "REGISTRY/NAME:TAG")
}
