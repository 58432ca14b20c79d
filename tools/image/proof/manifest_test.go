package proof_test

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/sbom"
)

func TestManifestsReferToExistingBlobs(t *testing.T) {
	t.Parallel()
	require.NoError(t, validate.Index(subject.layout.Index), "every blob is there and has its digest")
	m, err := subject.layout.Index.IndexManifest()
	require.NoError(t, err)
	assert.Equal(t, types.OCIImageIndex, m.MediaType)
	assert.Equal(t, subject.stamp.Labels(), m.Annotations)
}

func TestImageConfigHasUserEntrypointAndPort(t *testing.T) {
	t.Parallel()
	for i, p := range recipe.Platforms {
		config, err := subject.images[i].ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, p.String(), config.OS+"/"+config.Architecture)
		assert.Equal(t, "65532:65532", config.Config.User, "a number: a cluster cannot tell that a name is not root")
		assert.Equal(t, subject.image.Entrypoint(), config.Config.Entrypoint)
		assert.Empty(t, config.Config.Cmd)
		assert.Empty(t, config.Config.Env, "the programs get what their operator gives them")
		assert.Equal(t, map[string]struct{}{subject.image.Port: {}}, config.Config.ExposedPorts)
		assert.Equal(t, subject.stamp.Labels(), config.Config.Labels)
	}
}

func TestEachImageHasItsBillOfMaterials(t *testing.T) {
	t.Parallel()
	require.Len(t, subject.layout.Referrers, len(recipe.Platforms))
	for i, p := range recipe.Platforms {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			img, referrer := subject.images[i], subject.layout.Referrers[i]
			m, err := referrer.Manifest()
			require.NoError(t, err)
			digest, err := img.Digest()
			require.NoError(t, err)
			require.NotNil(t, m.Subject)
			assert.Equal(t, digest, m.Subject.Digest, "it refers to the image that it is about")
			assert.Equal(t, sbom.MediaType, m.ArtifactType)
			document := blob(t, referrer)
			beside, err := os.ReadFile(filepath.Join(subject.dir, subject.image.SBOM(p)))
			require.NoError(t, err)
			assert.Equal(t, string(beside), string(document), "attached and as a file: the same")
			saysWhatIsLinked(t, img, document)
		})
	}
}

func blob(t *testing.T, artifact v1.Image) []byte {
	t.Helper()
	layers, err := artifact.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	r, err := layers[0].Compressed()
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return out.Bytes()
}

// saysWhatIsLinked compares a document, read by its format's own library, with the programs in the image.
func saysWhatIsLinked(t *testing.T, img v1.Image, document []byte) {
	t.Helper()
	doc, err := spdxjson.Read(bytes.NewReader(document))
	require.NoError(t, err)
	assert.Equal(t, "SPDX-2.3", doc.SPDXVersion)
	versions := map[string]string{}
	for _, p := range doc.Packages {
		versions[p.PackageName] = p.PackageVersion
		assert.NotContains(t, []string{"", "NOASSERTION", "NONE"}, p.PackageLicenseDeclared, "%s: its licence is known", p.PackageName)
		require.NotEmpty(t, p.PackageExternalReferences, p.PackageName)
		assert.True(t, strings.HasPrefix(p.PackageExternalReferences[0].Locator, "pkg:"), p.PackageName)
	}
	want := map[string]string{
		subject.image.Name: subject.stamp.Version, "Go standard library": strings.TrimPrefix(runtime.Version(), "go"),
		// Not linked, but shipped.
		"golang.org/x/crypto/x509roots/fallback": versions["golang.org/x/crypto/x509roots/fallback"],
	}
	if subject.image.Name == recipe.Server.Name {
		for _, name := range []string{"swagger-ui-dist", "preact", "@preact/signals", "@preact/signals-core", "openapi-fetch", "openapi-typescript-helpers"} {
			want[name] = versions[name]
		}
	}
	for _, name := range subject.image.Programs {
		info, err := buildinfo.Read(bytes.NewReader(file(t, img, name)))
		require.NoError(t, err)
		want["carve/"+name] = subject.stamp.Version
		for _, m := range info.Deps {
			if m.Path == recipe.Module {
				continue // this repository's own
			}
			want[m.Path] = m.Version
		}
	}
	assert.Equal(t, want, versions)
	for name, version := range versions {
		assert.NotEmpty(t, version, name)
	}
	t.Logf("%d packages", len(versions))
}

func TestTheArchiveHoldsTheImageOfThisMachine(t *testing.T) {
	t.Parallel()
	img, err := tarball.ImageFromPath(filepath.Join(subject.dir, subject.image.Archive()), nil)
	require.NoError(t, err)
	config, err := img.ConfigName()
	require.NoError(t, err)
	for i, p := range recipe.Platforms {
		if p.Arch == runtime.GOARCH {
			want, err := subject.images[i].ConfigName()
			require.NoError(t, err)
			assert.Equal(t, want, config, "an engine knows an image by its configuration")
		}
	}
}
