// Package proof tests the image's properties: builds are reproducible, it contains only the intended files, and its programs run in it as in a
// cluster. It only contains tests.
package proof_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/carve-ipam/carve/tools/image/oci"
	"github.com/carve-ipam/carve/tools/image/pack"
	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// subject is the tested image: the result of `make image`, or else an image that the tests build.
var subject struct {
	repo   string
	dir    string
	image  recipe.Image
	stamp  recipe.Stamp
	layout oci.Layout
	images []v1.Image // in the order of recipe.Platforms
}

var (
	built = flag.String("built", "", "prove it of what `make image` wrote to this `DIRECTORY`; empty: build one")
	which = flag.String("image", recipe.Server.Name, "the `NAME` of the image")
)

func TestMain(m *testing.M) {
	if root := os.Getenv(jailVariable); root != "" {
		fmt.Fprintln(os.Stderr, "proof:", enter(root))
		os.Exit(notEntered)
	}
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "carve-proof-")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			err = prepare(context.Background(), dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "proof:", err)
			return 1
		}
		return m.Run()
	}())
}

func prepare(ctx context.Context, dir string) error {
	var err error
	if subject.repo, err = programs.Repository("."); err != nil {
		return err
	}
	for _, each := range recipe.Images {
		if each.Name == *which {
			subject.image = each
		}
	}
	if subject.image.Name == "" {
		return fmt.Errorf("there is no image %s", *which)
	}
	subject.dir = *built
	if subject.dir == "" {
		subject.dir = dir
		stamp := recipe.Stamp{Image: subject.image, Version: "v0.0.0-proof", Commit: "0123456789abcdef0123456789abcdef01234567", Created: time.Unix(1_700_000_000, 0).UTC()}
		if _, err := pack.Image(ctx, subject.repo, dir, stamp); err != nil {
			return err
		}
	}
	if subject.layout, err = oci.Open(filepath.Join(subject.dir, subject.image.Layout())); err != nil {
		return err
	}
	if subject.images, err = platforms(subject.layout.Index); err != nil {
		return err
	}
	config, err := subject.images[0].ConfigFile()
	if err != nil {
		return err
	}
	labels := config.Config.Labels
	subject.stamp = recipe.Stamp{
		Image: subject.image, Version: labels["org.opencontainers.image.version"], Commit: labels["org.opencontainers.image.revision"], Created: config.Created.UTC(),
	}
	return nil
}

// platforms returns an index's images, which must match the recipe's platforms in its order.
func platforms(index v1.ImageIndex) ([]v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) != len(recipe.Platforms) {
		return nil, fmt.Errorf("the index has %d images, and not one for each of %v", len(m.Manifests), recipe.Platforms)
	}
	var images []v1.Image
	for i, p := range recipe.Platforms {
		d := m.Manifests[i]
		if d.Platform == nil || d.Platform.OS != p.OS || d.Platform.Architecture != p.Arch {
			return nil, fmt.Errorf("image %d of the index is for %v, and not for %s", i, d.Platform, p)
		}
		img, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return images, nil
}
