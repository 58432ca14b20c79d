// Package pools contains the use cases on pools and classes, the cool-down of blocks, and the sampler that measures how full the pools are.
package pools
