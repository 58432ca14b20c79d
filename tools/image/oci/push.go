package oci

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Push copies a layout to a registry. It writes the index under the tag, and the documents about its images under their own digests. It returns the
// index's digest, which deployments use. It uses the stored credentials of container tools.
func Push(ctx context.Context, dir, target string) (name.Digest, error) {
	tag, err := name.NewTag(target, name.StrictValidation)
	if err != nil {
		return name.Digest{}, fmt.Errorf("push needs REGISTRY/NAME:TAG: %w", err)
	}
	l, err := Open(dir)
	if err != nil {
		return name.Digest{}, err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if err := remote.WriteIndex(tag, l.Index, options...); err != nil {
		return name.Digest{}, err
	}
	for _, r := range l.Referrers {
		digest, err := r.Digest()
		if err != nil {
			return name.Digest{}, err
		}
		if err := remote.Write(tag.Digest(digest.String()), r, options...); err != nil {
			return name.Digest{}, err
		}
	}
	digest, err := l.Index.Digest()
	return tag.Digest(digest.String()), err
}

// Layout is the content of a directory from [WriteLayout].
type Layout struct {
	Index     v1.ImageIndex
	Referrers []v1.Image
}

// Open reads a layout.
func Open(dir string) (Layout, error) {
	path, err := layout.FromPath(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("%s is no image layout: %w", dir, err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		return Layout{}, err
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		return Layout{}, err
	}
	var l Layout
	for _, d := range manifest.Manifests {
		if d.MediaType.IsIndex() {
			if l.Index, err = top.ImageIndex(d.Digest); err != nil {
				return l, err
			}
			continue
		}
		img, err := path.Image(d.Digest)
		if err != nil {
			return l, err
		}
		l.Referrers = append(l.Referrers, img)
	}
	if l.Index == nil {
		return l, fmt.Errorf("%s has no index of platforms", dir)
	}
	return l, nil
}
