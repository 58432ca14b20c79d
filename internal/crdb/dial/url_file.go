package dial

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// largestURL is longer than any real database URL, in bytes.
const largestURL = 16 << 10

// URLFromFile reads a database URL from a file that contains only the URL. It ignores white space around the URL. No error repeats the content,
// because it may contain a password.
func URLFromFile(path string) (string, error) {
	if strings.Contains(path, "://") || strings.Contains(path, "password=") {
		return "", errors.New("the value must be the name of a file, but it looks like a database URL, which this message does not repeat. If it contains a password, change the password: the list of processes shows it now")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestURL+1))
	if err != nil {
		return "", err
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return "", fmt.Errorf("%s is empty; it must contain only a database URL", path)
	case len(text) > largestURL:
		return "", fmt.Errorf("%s is too long to be a database URL", path)
	case bytes.ContainsAny(text, "\r\n"):
		return "", fmt.Errorf("%s has several lines; it must contain only a database URL", path)
	}
	if _, err := Parse(string(text)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return string(text), nil
}
