// Package pools has the use cases for pools and classes, the cool-down of blocks, and the sampler that measures how full pools are.
package pools
