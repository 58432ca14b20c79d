package main

import (
	"context"
	"os"
	"strings"
)

// keyFrom answers the API key as its file has it now: whoever mounts it may replace it.
func keyFrom(file string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(file)
		return strings.TrimSpace(string(text)), err
	}
}
