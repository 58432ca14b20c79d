package consistency

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict is the result of the check of a history.
type Verdict struct {
	Result     porcupine.CheckResult // Ok, Illegal, or Unknown after the time limit
	Operations int                   // number of judged operations

	model porcupine.Model
	info  porcupine.LinearizationInfo
}

// Check judges the history so far, within a time limit.
func (r *Recorder) Check(limit time.Duration) Verdict {
	operations, names := r.operations()
	v := Verdict{Operations: len(operations), model: model(names)}
	v.Result, v.info = porcupine.CheckOperationsVerbose(v.model, operations, limit)
	return v
}

// Draw writes a picture of the history into an HTML file. It shows the clients' operations over time and the longest valid orders. It also shows the
// operation that fits into no order.
func (v Verdict) Draw(path string) error { return porcupine.VisualizePath(v.model, v.info, path) }

// patience limits the search. A history that the search can judge takes milliseconds.
const patience = time.Minute

// Require requires that the history is linearizable. If it is not, the history's picture is an artifact of the test (go test -artifacts
// -outputdir=...).
func Require(t testing.TB, r *Recorder) {
	t.Helper()
	v := r.Check(patience)
	if v.Result == porcupine.Ok {
		if v.Operations == 0 {
			t.Fatal("the history is empty: nothing was judged")
		}
		return
	}
	path := filepath.Join(t.ArtifactDir(), "history.html")
	if err := v.Draw(path); err != nil {
		t.Errorf("drawing the history: %v", err)
	} else if info, err := os.Stat(path); err == nil {
		t.Logf("the history is drawn in %s (%d bytes)", path, info.Size())
	}
	t.Fatal(v)
}

func (v Verdict) String() string {
	switch v.Result {
	case porcupine.Ok:
		return fmt.Sprintf("a history of %d operations is linearizable", v.Operations)
	case porcupine.Illegal:
		return fmt.Sprintf("a history of %d operations is not linearizable: no order of them makes every answer right", v.Operations)
	default:
		return fmt.Sprintf("a history of %d operations could not be judged in time: use fewer clients, or smaller pools", v.Operations)
	}
}

// Right reports whether the history is linearizable.
func (v Verdict) Right() bool { return v.Result == porcupine.Ok }

// Wrong reports whether the history is not linearizable. If neither Right nor Wrong holds, the check did not end in time.
func (v Verdict) Wrong() bool { return v.Result == porcupine.Illegal }
