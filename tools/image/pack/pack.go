// Package pack builds all files of `make image`.
package pack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/carve-ipam/carve/tools/image/licences"
	"github.com/carve-ipam/carve/tools/image/oci"
	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/rootfs"
	"github.com/carve-ipam/carve/tools/image/sbom"
)

// Made is a build's result.
type Made struct {
	// Index is the digest of the index of all platforms' images. Deployments use it.
	Index v1.Hash
	// Images has the digests of the platforms' images, in the order of recipe.Platforms. Sizes has the bytes that each image takes in a registry.
	Images []v1.Hash
	Sizes  []int64
}

// Image builds the image from the checkout in repo into the directory out.
func Image(ctx context.Context, repo, out string, s recipe.Stamp) (Made, error) {
	var made Made
	components, err := licences.Scan(ctx, repo)
	if err != nil {
		return made, err
	}
	if err := licences.Refused(components); err != nil {
		return made, err
	}
	base, err := rootfs.Base(repo)
	if err != nil {
		return made, err
	}
	work, err := os.MkdirTemp("", "carve-image-")
	if err != nil {
		return made, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.MkdirAll(out, 0o750); err != nil {
		return made, err
	}
	var images, referrers []v1.Image
	for _, p := range recipe.Platforms {
		dir := filepath.Join(work, p.Dashed())
		img, err := image(ctx, repo, dir, p, s, base)
		if err != nil {
			return made, err
		}
		digest, err := img.Digest()
		if err != nil {
			return made, err
		}
		size, err := stored(img)
		if err != nil {
			return made, err
		}
		document, err := sbom.Document(sbom.Subject{Platform: p, Stamp: s, Digest: digest.String(), Dir: dir, Components: components})
		if err != nil {
			return made, err
		}
		if err := os.WriteFile(filepath.Join(out, s.Image.SBOM(p)), document, 0o644); err != nil { //nolint:gosec // G306: for everybody to read
			return made, err
		}
		referrer, err := oci.Referrer(img, sbom.MediaType, document, s.Labels())
		if err != nil {
			return made, err
		}
		images, referrers = append(images, img), append(referrers, referrer)
		made.Images, made.Sizes = append(made.Images, digest), append(made.Sizes, size)
	}
	index, err := oci.Index(s, recipe.Platforms, images)
	if err != nil {
		return made, err
	}
	if made.Index, err = index.Digest(); err != nil {
		return made, err
	}
	if err := oci.WriteLayout(filepath.Join(out, s.Image.Layout()), s, index, referrers); err != nil {
		return made, err
	}
	return made, oci.WriteArchive(filepath.Join(out, s.Image.Archive()), s, images[slices.Index(recipe.Platforms, recipe.Here())])
}

// image builds the programs for a platform in dir, and their image. The layers that change least often come first.
func image(ctx context.Context, repo, dir string, p recipe.Platform, s recipe.Stamp, base rootfs.Layer) (v1.Image, error) {
	if err := programs.Build(ctx, repo, dir, p, s); err != nil {
		return nil, err
	}
	layers := []rootfs.Layer{base}
	for _, name := range s.Image.Programs {
		l, err := rootfs.Program(dir, name)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	img, err := oci.Image(p, s, layers)
	if err != nil {
		return nil, fmt.Errorf("image for %s: %w", p, err)
	}
	return img, nil
}

func stored(img v1.Image) (int64, error) {
	m, err := img.Manifest()
	if err != nil {
		return 0, err
	}
	size := m.Config.Size
	for _, l := range m.Layers {
		size += l.Size
	}
	return size, nil
}
