// Package dockerfile compares the Dockerfile, which serves users with a container engine, with the image from `make image`. It contains only tests.
package dockerfile
