// Package dockerfile compares the Dockerfile, which serves users of a container engine, with the image of `make image`. It only contains tests.
package dockerfile
