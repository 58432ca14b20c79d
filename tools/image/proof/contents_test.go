package proof_test

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

// expected lists every file in the image with its mode, except the programs. The image must contain nothing else.
var expected = map[string]int64{
	"etc/": 0o755, "etc/passwd": 0o644, "etc/group": 0o644,
	"etc/ssl/": 0o755, "etc/ssl/certs/": 0o755, "etc/ssl/certs/ca-certificates.crt": 0o644,
	"tmp/": 0o1777,
	"usr/": 0o755, "usr/share/": 0o755, "usr/share/doc/": 0o755, "usr/share/doc/carve/": 0o755,
	"usr/share/doc/carve/LICENSE": 0o644, "usr/share/doc/carve/THIRD_PARTY_LICENSES": 0o644,
}

// found is a file of an image.
type found struct {
	tar.Header
	content []byte
}

// files returns an image's files, layer by layer. It returns a name twice if a later layer hides it.
func files(t *testing.T, img v1.Image) []found {
	t.Helper()
	layers, err := img.Layers()
	require.NoError(t, err)
	var all []found
	for _, l := range layers {
		content, err := l.Uncompressed()
		require.NoError(t, err)
		for r := tar.NewReader(content); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			all = append(all, found{*h, text})
		}
		require.NoError(t, content.Close())
	}
	return all
}

func file(t *testing.T, img v1.Image, name string) []byte {
	t.Helper()
	for _, f := range files(t, img) {
		if f.Name == name {
			return f.content
		}
	}
	require.FailNow(t, "not in the image", name)
	return nil
}

func TestImageContainsOnlyItsIntendedFiles(t *testing.T) {
	t.Parallel()
	for i, p := range recipe.Platforms {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			modes := map[string]int64{}
			size := 0
			for _, f := range files(t, subject.images[i]) {
				assert.NotContains(t, modes, f.Name, "twice")
				modes[f.Name] = f.Mode
				assert.Zero(t, f.Uid, "%s: the user of the programs must own nothing that they run", f.Name)
				assert.Zero(t, f.Gid, f.Name)
				assert.Contains(t, []byte{tar.TypeReg, tar.TypeDir}, f.Typeflag, "%s: no links, no devices", f.Name)
				assert.Zero(t, f.Mode&0o6000, "%s: no setuid, no setgid", f.Name)
				assert.Equal(t, subject.stamp.Created, f.ModTime.UTC(), "%s: the time of the sources", f.Name)
				assert.Empty(t, f.PAXRecords, f.Name)
				size += len(f.content)
			}
			want := maps.Clone(expected)
			for _, name := range subject.image.Programs {
				want[name] = 0o755
			}
			assert.Equal(t, want, modes)
			t.Logf("%s: %d names, %.1f MB unpacked", p, len(modes), float64(size)/1e6)
		})
	}
}

func TestTheProgramsAreStaticAndForTheirPlatform(t *testing.T) {
	t.Parallel()
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for i, p := range recipe.Platforms {
		for _, name := range subject.image.Programs {
			t.Run(p.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				program, err := elf.NewFile(bytes.NewReader(file(t, subject.images[i], name)))
				require.NoError(t, err)
				assert.Equal(t, machines[p.Arch], program.Machine)
				assert.Nil(t, program.Section(".interp"), "it asks for a loader, and there is none")
				libraries, err := program.ImportedLibraries()
				assert.NoError(t, err)
				assert.Empty(t, libraries)
			})
		}
	}
}

func TestNoPathOfTheBuildersMachineIsInThePrograms(t *testing.T) {
	t.Parallel()
	for _, name := range subject.image.Programs {
		program := file(t, subject.images[0], name)
		assert.NotContains(t, string(program), subject.repo+"/", name)
		assert.Contains(t, string(program), subject.stamp.Version, "the version is stamped")
		assert.Contains(t, string(program), subject.stamp.Commit, "the commit is stamped")
	}
}

func TestCertificateAuthoritiesCanBeParsed(t *testing.T) {
	t.Parallel()
	text := file(t, subject.images[0], "etc/ssl/certs/ca-certificates.crt")
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	count := strings.Count(string(text), "BEGIN CERTIFICATE")
	assert.Greater(t, count, 80, "fewer than Mozilla has had for years")
	t.Logf("%d authorities", count)
}
