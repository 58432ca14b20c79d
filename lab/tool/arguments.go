package tool

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Parse parses a command's flags. It returns an error if there are other arguments.
func Parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are flags only, as -name=value", f.Arg(0))
	}
	return nil
}

// Save writes a result as JSON into a file. It creates the directory if necessary.
func Save(path string, result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
