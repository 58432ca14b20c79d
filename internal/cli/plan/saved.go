package plan

import (
	"encoding/json"
	"os"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// kindSaved is the `kind` of a file that contains a plan and its steps.
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
	Action   string          `json:"action"`
	Kind     string          `json:"kind"`
	Name     string          `json:"name"`
	Revision string          `json:"revision,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
}

func (st step) saved() savedStep { return savedStep{st.Action, st.Kind, st.Name, st.revision, st.body} }

// readSaved reads a file that save wrote. It returns false for any other file.
func readSaved(path string, text []byte) (s saved, is bool, err error) {
	if json.Valid(text) {
		_ = json.Unmarshal(text, &s) // a document with another structure is not a saved plan
	}
	if s.Kind != kindSaved {
		return saved{}, false, nil
	}
	if len(s.Plan) == 0 || s.Project == "" {
		return saved{}, false, exit.Usagef("%s is not a complete saved plan: save it again with 'ipamctl plan --out'", path)
	}
	return s, true, nil
}

// savedAmong finds a saved plan among the files of the command line. A saved plan must be the only file.
func savedAmong(paths []string, texts [][]byte) (s saved, is bool, err error) {
	for n, path := range paths {
		one, isSaved, err := readSaved(path, texts[n])
		switch {
		case err != nil:
			return saved{}, false, err
		case isSaved && len(paths) > 1:
			return saved{}, false, exit.Usagef("%s is a saved plan: apply it without other files", path)
		case isSaved:
			return one, true, nil
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
	was := map[[2]string]savedStep{}
	for _, st := range s.Steps {
		was[[2]string{st.Kind, st.Name}] = st
	}
	for _, st := range r.steps {
		now, key := st.saved(), [2]string{st.Kind, st.Name}
		before, found := was[key]
		delete(was, key)
		if !found || before.Action != now.Action || before.Revision != now.Revision || !equalJSON(before.Body, now.Body) {
			other = append(other, st.Kind+" "+st.Name)
		}
	}
	for _, st := range s.Steps {
		if _, gone := was[[2]string{st.Kind, st.Name}]; gone {
			other = append(other, st.Kind+" "+st.Name)
		}
	}
	if len(other) == 0 {
		return nil
	}
	const most = 5
	for _, name := range other[:min(len(other), most)] {
		r.Note("%s has changed since the plan was saved", name)
	}
	if more := len(other) - most; more > 0 {
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
	x, errX := canonicalJSON(a)
	y, errY := canonicalJSON(b)
	return errX == nil && errY == nil && x == y
}

func canonicalJSON(doc json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return "", err
	}
	text, err := show.Marshal(v)
	return string(text), err
}
