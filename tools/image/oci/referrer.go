package oci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// emptyJSON is the media type of an empty configuration. A manifest must have a configuration, even if it needs none (image specification 1.1).
const emptyJSON types.MediaType = "application/vnd.oci.empty.v1+json"

// Referrer returns a manifest with a document whose subject is an image. Registries list the manifest under the image's digest (the referrers API).
// Tools copy it together with the image.
func Referrer(subject v1.Image, mediaType string, document []byte, annotations map[string]string) (v1.Image, error) {
	about, err := partial.Descriptor(subject)
	if err != nil {
		return nil, err
	}
	a := &artifact{config: []byte("{}"), blob: document, mediaType: types.MediaType(mediaType)}
	config, err := describe(a.config, emptyJSON)
	if err != nil {
		return nil, err
	}
	blob, err := describe(a.blob, a.mediaType)
	if err != nil {
		return nil, err
	}
	a.digest = blob.Digest
	a.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: mediaType,
		Config: config, Layers: []v1.Descriptor{blob}, Annotations: annotations,
		Subject: &v1.Descriptor{MediaType: about.MediaType, Size: about.Size, Digest: about.Digest},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(a)
}

func describe(content []byte, mediaType types.MediaType) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	return v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest}, err
}

// artifact is a manifest with one blob. The library does not support artifacts, so the artifact appears as an image with one layer.
type artifact struct {
	config, blob, manifest []byte
	mediaType              types.MediaType
	digest                 v1.Hash
}

func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (a *artifact) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if h != a.digest {
		return nil, fmt.Errorf("the artifact has no blob %s", h)
	}
	return document{a}, nil
}

// document is the artifact's blob, neither compressed nor an archive.
type document struct{ of *artifact }

func (d document) Digest() (v1.Hash, error)            { return d.of.digest, nil }
func (d document) Size() (int64, error)                { return int64(len(d.of.blob)), nil }
func (d document) MediaType() (types.MediaType, error) { return d.of.mediaType, nil }
func (d document) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(d.of.blob)), nil
}
