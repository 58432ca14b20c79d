package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// keyFrom answers the API key as its file has it now: whoever mounts it may replace it.
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
