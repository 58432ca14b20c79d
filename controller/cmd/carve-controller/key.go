package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// keyFrom returns a function that reads the API key from its file. It reads the file at each call, because an operator may replace the key.
func keyFrom(file string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return readKey(file) }
}

func readKey(file string) (string, error) {
	text, err := os.ReadFile(file)
	key := strings.TrimSpace(string(text))
	if err == nil && key == "" {
		err = fmt.Errorf("%s is empty", file)
	}
	return key, err
}
