// Package oci converts the root file system into the formats of registries and engines. These are images, their index by platform, a layout on disk,
// an archive for `docker load`, and documents that refer to an image.
package oci

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/rootfs"
)

// Image returns one platform's image. It has the layers in the given order, and the command to run.
func Image(p recipe.Platform, s recipe.Stamp, layers []rootfs.Layer) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(img, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Arch, Variant: variant(p),
		Author:  s.Labels()["org.opencontainers.image.vendor"],
		Created: v1.Time{Time: s.Created},
		RootFS:  v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: recipe.User, Entrypoint: s.Image.Entrypoint(), WorkingDir: "/",
			ExposedPorts: map[string]struct{}{s.Image.Port: {}},
			Labels:       s.Labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	for _, l := range layers {
		content, err := l.Tar(s.Created)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", l.About, err)
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", l.About, err)
		}
		img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{
			Created: v1.Time{Time: s.Created}, CreatedBy: "tools/image", Comment: l.About,
		}})
		if err != nil {
			return nil, err
		}
	}
	annotated, ok := mutate.Annotations(img, s.Labels()).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("image for %s: what has annotations is no image", p)
	}
	return annotated, nil
}

// variant returns the processor variant, which the architecture's name does not contain. Container engines compare it.
func variant(p recipe.Platform) string {
	if p.Arch == "arm64" {
		return "v8"
	}
	return ""
}

// Index returns the index of all platforms' images. A tag refers to the index.
func Index(s recipe.Stamp, platforms []recipe.Platform, images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, p := range platforms {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: images[i], Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: variant(p)},
		}})
	}
	annotated, ok := mutate.Annotations(index, s.Labels()).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("index of %s: what has annotations is no index", s.Version)
	}
	return annotated, nil
}
