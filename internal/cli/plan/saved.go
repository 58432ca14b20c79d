package plan

import (
	"encoding/json"
	"os"
	"reflect"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// kindSaved is the `kind` in a file that contains a plan and its steps.
const kindSaved = "SavedPlan"

// saved is a plan with the steps that the user has seen.
type saved struct {
	Kind    string          `json:"kind"`
	Server  string          `json:"server"`
	Project string          `json:"project"`
	Prune   bool            `json:"prune"`
	Plan    json.RawMessage `json:"plan"`
	Steps   []savedStep     `json:"steps"`
}

// savedStep is a step with the revision with which the plan was compared.
type savedStep struct {
	Action string `json:"action"`
	key
	Revision string          `json:"revision,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
}

func (st step) saved() savedStep { return savedStep{st.Action, st.key, st.revision, st.body} }

// savedAmong finds a file that save wrote among the files on the command line. A saved plan must be the only file.
func savedAmong(paths []string, texts [][]byte) (s saved, is bool, err error) {
	for n, path := range paths {
		s = saved{}
		if json.Valid(texts[n]) {
			_ = json.Unmarshal(texts[n], &s) // a document with another structure is not a saved plan
		}
		switch {
		case s.Kind != kindSaved:
		case len(s.Plan) == 0 || s.Project == "":
			return saved{}, false, exit.Usagef("%s is not a complete saved plan: save it again with 'ipamctl plan --out'", path)
		case len(paths) > 1:
			return saved{}, false, exit.Usagef("%s is a saved plan: apply it without other files", path)
		default:
			return s, true, nil
		}
	}
	return saved{}, false, nil
}

// save writes the plan and its steps to a file.
func (r *run) save(path string) error {
	s := saved{Kind: kindSaved, Server: r.Server, Project: r.Project, Prune: r.prune, Plan: r.text, Steps: []savedStep{}}
	for _, st := range r.steps {
		s.Steps = append(s.Steps, st.saved())
	}
	doc, err := show.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(doc, '\n'), 0o600); err != nil {
		return exit.Usagef("cannot write the file: %v", err)
	}
	return nil
}

// sameAs returns an error if the current steps differ from the saved steps.
func (s saved) sameAs(path string, r *run) error {
	var other []string
	if s.Server != r.Server {
		return exit.Usagef("%s was saved for %s, not for %s", path, s.Server, r.Server)
	}
	if s.Project != r.Project {
		return exit.Usagef("%s was saved for project %s, not for %s", path, s.Project, r.Project)
	}
	was := map[key]savedStep{}
	for _, st := range s.Steps {
		was[st.key] = st
	}
	for _, st := range r.steps {
		now := st.saved()
		before, found := was[st.key]
		delete(was, st.key)
		if !found || before.Action != now.Action || before.Revision != now.Revision || !equalJSON(before.Body, now.Body) {
			other = append(other, st.Kind+" "+st.Name)
		}
	}
	for _, st := range s.Steps {
		if _, gone := was[st.key]; gone {
			other = append(other, st.Kind+" "+st.Name)
		}
	}
	if len(other) == 0 {
		return nil
	}
	const limit = 5
	for _, name := range other[:min(len(other), limit)] {
		r.Note("%s has changed since the plan was saved", name)
	}
	if more := len(other) - limit; more > 0 {
		r.Note("and %d more", more)
	}
	r.Note("error: nothing was done: objects have changed since %s was saved; save it again and check it", path)
	return exit.Verdict(exit.Conflict)
}

// equalJSON compares two documents and ignores white space.
func equalJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
