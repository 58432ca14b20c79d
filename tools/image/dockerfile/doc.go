// Package dockerfile holds the Dockerfile, which is for people who build with an engine, to the image that `make image` makes. It
// has tests alone.
package dockerfile
