package oci

import (
	"errors"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// WriteLayout writes an OCI image layout. It has the index under its tag, and the documents about the index's images. It replaces the whole content
// of dir.
func WriteLayout(dir string, s recipe.Stamp, index v1.ImageIndex, referrers []v1.Image) error {
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	path, err := layout.Write(fresh, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": s.Tag()})); err != nil {
		return err
	}
	for _, r := range referrers {
		if err := path.AppendImage(r); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(dir), os.Rename(fresh, dir))
}

// WriteArchive writes one platform's image for `docker load` and `ctr images import`. The format supports only one platform for each name.
func WriteArchive(file string, s recipe.Stamp, img v1.Image) error {
	tag, err := name.NewTag(s.Image.Name + ":" + s.Tag())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, tag, img)
}
