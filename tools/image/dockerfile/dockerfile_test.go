package dockerfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
	"github.com/carve-ipam/carve/tools/image/rootfs"
)

// stamped returns a stamp of an image.
func stamped(image recipe.Image) recipe.Stamp {
	s := stamp
	s.Image = image
	return s
}

// each runs a test for the Dockerfile of each image.
func each(t *testing.T, test func(*testing.T, recipe.Image)) {
	t.Helper()
	t.Parallel()
	for _, image := range recipe.Images {
		t.Run(image.Dockerfile, func(t *testing.T) {
			t.Parallel()
			test(t, image)
		})
	}
}

var stamp = recipe.Stamp{Version: "v1.2.3", Commit: strings.Repeat("ab", 20), Created: time.Unix(1_700_000_000, 0).UTC()}

// expand replaces a build's arguments.
var expand = strings.NewReplacer("${VERSION}", stamp.Version, "${COMMIT}", stamp.Commit, "${CREATED}", stamp.Created.Format(time.RFC3339))

func TestTheDockerfileIsBuiltWithThePinnedGo(t *testing.T) {
	each(t, theDockerfileIsBuiltWithThePinnedGo)
}

func theDockerfileIsBuiltWithThePinnedGo(t *testing.T, image recipe.Image) {
	t.Helper()
	_, stages := read(t, image)
	assert.Equal(t, "golang:"+recipe.GoVersion+"-bookworm", stages[0].from)
	assert.Equal(t, "scratch", stages[1].from, "nothing is in the image that was not put there")
}

func TestTheDockerfileHasTheSameEntrypointUserAndPort(t *testing.T) {
	each(t, theDockerfileHasTheSameEntrypointUserAndPort)
}

func theDockerfileHasTheSameEntrypointUserAndPort(t *testing.T, image recipe.Image) {
	t.Helper()
	_, stages := read(t, image)
	last := stages[1]
	assert.Equal(t, [][]string{image.Entrypoint()}, last.words("entrypoint"))
	assert.Equal(t, [][]string{{recipe.User}}, last.words("user"))
	assert.Equal(t, [][]string{{image.Port}}, last.words("expose"))
	assert.Equal(t, [][]string{{"/"}}, last.words("workdir"))
	for _, kind := range []string{"cmd", "env", "volume", "run", "healthcheck", "stopsignal", "add"} {
		assert.Empty(t, last.words(kind), kind)
	}
	assert.Equal(t, [][]string{{"/image/", "/"}}, last.words("copy"))
}

func TestTheDockerfileHasTheSameLabels(t *testing.T) { each(t, theDockerfileHasTheSameLabels) }

func theDockerfileHasTheSameLabels(t *testing.T, image recipe.Image) {
	t.Helper()
	_, stages := read(t, image)
	labels := map[string]string{}
	for _, words := range stages[1].words("label") {
		for triple := range slices.Chunk(words, 3) { // name, value, and the sign between them
			labels[triple[0]] = expand.Replace(strings.Trim(triple[1], `"`))
		}
	}
	assert.Equal(t, stamped(image).Labels(), labels)
}

func TestTheDockerfileBuildsWithTheSameFlags(t *testing.T) {
	each(t, theDockerfileBuildsWithTheSameFlags)
}

func theDockerfileBuildsWithTheSameFlags(t *testing.T, image recipe.Image) {
	t.Helper()
	_, stages := read(t, image)
	build := run(t, stages[0], "go build")
	for _, variable := range recipe.Environment(recipe.Platform{OS: "${TARGETOS}", Arch: "${TARGETARCH}"}) {
		assert.Contains(t, strings.Fields(build), variable)
	}
	words := strings.Join(strings.Fields(expand.Replace(build)), " ")
	args := recipe.BuildArgs(stamped(image))
	args[len(args)-1] = `"` + args[len(args)-1] + `"`
	assert.Contains(t, words, "go build -o /image/ "+strings.Join(args, " "))
	for _, name := range image.Programs {
		assert.Contains(t, strings.Fields(build), "./cmd/"+name)
	}
	_, packages, _ := strings.Cut(words, args[len(args)-1])
	assert.Len(t, strings.Fields(packages), len(image.Programs), "and nothing else")
}

// run returns the RUN step that contains a text.
func run(t *testing.T, s stage, with string) string {
	t.Helper()
	for _, words := range s.words("run") {
		if text := strings.Join(words, " "); strings.Contains(text, with) {
			return text
		}
	}
	require.FailNow(t, "no RUN step has", with)
	return ""
}

// TestTheDockerfilesCommandsMakeTheSameFiles runs the commands that make the image's files, here, and compares the files byte for byte with those in
// `make image`'s image. An engine only adds the copy of the files, and the words that the other tests compare.
func TestTheDockerfilesCommandsMakeTheSameFiles(t *testing.T) {
	each(t, theDockerfilesCommandsMakeTheSameFiles)
}

func theDockerfilesCommandsMakeTheSameFiles(t *testing.T, image recipe.Image) {
	t.Helper()
	repo, stages := read(t, image)
	out := filepath.Join(t.TempDir(), "image")
	here := strings.NewReplacer("--repo=/src", "--repo="+repo, "--out=/image", "--out="+out, "-o /image/", "-o "+out+"/")
	for _, step := range []string{"go build", "rootfs"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", here.Replace(run(t, stages[0], step)))
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "VERSION="+stamp.Version, "COMMIT="+stamp.Commit, "TARGETOS=linux", "TARGETARCH=amd64")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
	}
	built := t.TempDir()
	require.NoError(t, programs.Build(t.Context(), repo, built, recipe.Platforms[0], stamped(image)))
	layers := []rootfs.Layer{}
	base, err := rootfs.Base(repo)
	require.NoError(t, err)
	layers = append(layers, base)
	for _, name := range image.Programs {
		l, err := rootfs.Program(built, name)
		require.NoError(t, err)
		layers = append(layers, l)
	}
	wanted := map[string]bool{".": true}
	for _, l := range layers {
		for _, e := range l.Entries {
			wanted[e.Path] = true
			at := filepath.Join(out, e.Path)
			info, err := os.Stat(at)
			require.NoError(t, err)
			mode := int64(info.Mode().Perm())
			if info.Mode()&os.ModeSticky != 0 {
				mode |= 0o1000
			}
			assert.Equal(t, e.Mode, mode, e.Path)
			if !e.Dir {
				content, err := os.ReadFile(at)
				require.NoError(t, err)
				assert.True(t, string(e.Content) == string(content), "%s differs", e.Path) //nolint:testifylint // megabytes are no message
			}
		}
	}
	require.NoError(t, filepath.WalkDir(out, func(at string, _ os.DirEntry, err error) error {
		name, _ := filepath.Rel(out, at)
		assert.True(t, wanted[name], "%s is not in the image of make image", name)
		return err
	}))
}
