package installed_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(cluster.Root("docs/kubernetes-controller.md"))
	require.NoError(t, err)
	return string(text)
}

var block = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestExamplesOnThePageWork applies the examples one after another. An example without a kind shows the resulting state of the object before it.
func TestExamplesOnThePageWork(t *testing.T) {
	s := begin(t, given(t))
	s.start()
	var made []*unstructured.Unstructured
	compared := 0
	for _, found := range block.FindAllStringSubmatch(page(t), -1) {
		for text := range strings.SplitSeq(found[1], "\n---\n") {
			var content map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(text), &content), text)
			switch {
			case content["kind"] != nil:
				made = append(made, s.apply(content))
			case content["status"] != nil || content["metadata"] != nil:
				s.looks(made[len(made)-1], content)
				compared++
			}
		}
	}
	require.Len(t, made, 7)
	require.Equal(t, 3, compared)
	for _, object := range slices.Backward(made) { // the objects can also be deleted
		now := int64(0)
		require.NoError(t, world.Client.Delete(t.Context(), object, &client.DeleteOptions{GracePeriodSeconds: &now}))
		s.vanishes(object)
	}
}

// apply creates an object, in the story's namespace if the kind is namespaced.
func (s story) apply(content map[string]any) *unstructured.Unstructured {
	s.Helper()
	object := &unstructured.Unstructured{Object: content}
	namespaced, err := world.Client.IsObjectNamespaced(object)
	require.NoError(s, err)
	if namespaced {
		object.SetNamespace(s.name)
	}
	s.create(object)
	return object
}

// looks waits until an object has the wanted fields.
func (s story) looks(is *unstructured.Unstructured, wanted map[string]any) {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Logf("it is %v", is.Object)
		}
	}()
	s.eventually("it is what the page shows", func() bool {
		s.get(is)
		return has(is.Object, wanted)
	})
}

// has reports whether a value has all wanted fields and items. "…" in a text matches anything.
func has(is, wanted any) bool {
	switch want := wanted.(type) {
	case map[string]any:
		of, ok := is.(map[string]any)
		for key, value := range want {
			ok = ok && has(of[key], value)
		}
		return ok
	case []any:
		of, ok := is.([]any)
		for i := range want {
			ok = ok && i < len(of) && has(of[i], want[i])
		}
		return ok
	case string:
		text, ok := is.(string)
		return ok && regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*")+"$").MatchString(text)
	default:
		return is == wanted
	}
}

// rows returns the cells of the table under a heading, row by row.
func rows(t *testing.T, heading string) (all [][]string) {
	t.Helper()
	_, text, found := strings.Cut(page(t), "\n## "+heading+"\n")
	require.True(t, found, heading)
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all = append(all, cells)
		}
	}
	require.NotEmpty(t, all, heading)
	return all
}

// TestThePageHasEveryOption compares the options and defaults on the page with the program's.
func TestThePageHasEveryOption(t *testing.T) {
	help, err := exec.CommandContext(t.Context(), world.program, "--help").Output()
	require.NoError(t, err)
	program, said := map[string]string{}, map[string]string{}
	for _, flag := range strings.Split(string(help), "\n  -")[1:] {
		name := regexp.MustCompile(`^[a-z-]+`).FindString(flag)
		program[name] = ""
		if found := regexp.MustCompile(`\(default ([^ )]+)\)\s*$`).FindStringSubmatch(flag); found != nil {
			program[name] = strings.Trim(found[1], `"`)
		}
	}
	for _, row := range rows(t, "Options") {
		said[strings.Trim(row[0], "`-")] = strings.Trim(row[1], "`")
	}
	assert.Equal(t, program, said)
}

// TestThePageHasEveryMetric compares the metrics on the page with the controller's own.
func TestThePageHasEveryMetric(t *testing.T) {
	s := begin(t, given(t))
	p := s.start()
	s.bound(s.claim("web", one))
	program, said := map[string]bool{}, map[string]bool{}
	s.eventually("all metrics are there", func() bool {
		for _, line := range regexp.MustCompile(`(?m)^# TYPE (carve_controller_\w+) (\w+)$`).FindAllStringSubmatch(p.get(p.metrics, "/metrics").body, -1) {
			program["`"+line[1]+"` "+line[2]] = true
		}
		return len(program) == len(rows(t, "Metrics, logs, traces"))
	})
	for _, row := range rows(t, "Metrics, logs, traces") {
		said[row[0]+" "+row[1]] = true
	}
	assert.Equal(t, program, said)
}
