package proof_test

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/oci"
	"github.com/carve-ipam/carve/tools/image/pack"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// TestTheSameSourcesMakeTheSameBytes builds again, from a copy of the sources in another directory, with other file times and another time zone.
// CARVE_IMAGE_COLD=1 uses an empty build cache too, so that nothing remains from the first build.
func TestTheSameSourcesMakeTheSameBytes(t *testing.T) {
	if os.Getenv("CARVE_IMAGE_COLD") != "" {
		t.Setenv("GOCACHE", t.TempDir())
	}
	t.Setenv("TZ", "Pacific/Chatham")
	t.Setenv("GOFLAGS", "-tags=timetzdata") // the user's own settings must not affect the image
	elsewhere := filepath.Join(t.TempDir(), "a copy")
	copySources(t, subject.repo, elsewhere)
	again := t.TempDir()
	made, err := pack.Image(t.Context(), elsewhere, again, subject.stamp)
	require.NoError(t, err)

	index, err := subject.layout.Index.Digest()
	require.NoError(t, err)
	assert.Equal(t, index, made.Index, "index")
	for i, p := range recipe.Platforms {
		digest, err := subject.images[i].Digest()
		require.NoError(t, err)
		assert.Equal(t, digest, made.Images[i], p.String())
	}
	assert.Equal(t, sums(t, subject.dir), sums(t, again), "every file: layout, archive and bills of materials")
	t.Log(made.Index)
}

// A different input gives different bytes, so the comparison above can fail.
func TestAnotherTimeMakesOtherBytes(t *testing.T) {
	t.Parallel()
	later := subject.stamp
	later.Created = later.Created.Add(time.Second)
	img, err := oci.Image(recipe.Platforms[0], later, nil)
	require.NoError(t, err)
	same, err := oci.Image(recipe.Platforms[0], subject.stamp, nil)
	require.NoError(t, err)
	a, err := img.Digest()
	require.NoError(t, err)
	b, err := same.Digest()
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
}

// copySources copies the files of a checkout that git tracks, or would track: other files would make the copy depend on the original place.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	skip := map[string]bool{"bin": true, "data": true}
	require.NoError(t, filepath.WalkDir(from, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		if e.IsDir() && (skip[name] || e.Name() == ".git" || e.Name() == "node_modules") {
			return fs.SkipDir
		}
		target := filepath.Join(to, name)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o600)
	}))
}

func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, at)
		// bin/ also contains files of other make targets.
		if err != nil || e.IsDir() || !strings.HasPrefix(name, subject.image.Layout()+"/") && !strings.HasPrefix(name, subject.image.Name+"-image") {
			return err
		}
		content, err := os.ReadFile(at)
		all[name] = sha256.Sum256(content)
		return err
	}))
	require.Greater(t, len(all), 10)
	return all
}
